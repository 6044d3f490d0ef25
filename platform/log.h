// Logging: a message, then fields. `log_info("evict", {{"node", name}, {"silent_s", 340}})` prints
// `2026-11-21T01:02:03.004Z info evict node=a silent_s=340` to standard error.
//
// Levels: error: somebody must act; warn: the program works with reduced function; info: its state
// changed; debug: details for developers. The same message is printed at most `burst` times per
// `window`; the next printed line reports the number of suppressed ones as repeated=N. So what
// differs from one call to the next belongs in fields. Never log a secret. Thread-safe, but call
// set_log_limits() before other threads log.

#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast {

enum class LogLevel : std::uint8_t { debug, info, warn, error, off };

class LogField {
 public:
  LogField(std::string_view name, std::string_view value) : name_(name), value_(value) {}
  LogField(std::string_view name, const char* value) : name_(name), value_(value) {}
  LogField(std::string_view name, const std::string& value) : name_(name), value_(value) {}
  LogField(std::string_view name, bool value) : name_(name), value_(value ? "true" : "false") {}
  template <std::integral T>
  LogField(std::string_view name, T value) : name_(name), value_(std::to_string(value)) {}
  // The code and the text of an error.
  LogField(std::string_view name, const Error& error);

  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::string_view value() const { return value_; }

 private:
  std::string_view name_;
  std::string value_;
};

using LogFields = std::initializer_list<LogField>;

struct LogLimits {
  int burst = 20;                   // lines of one message per window
  std::chrono::seconds window{10};  // begins with the first line of a message
};

void log_debug(std::string_view message, LogFields fields = {});
void log_info(std::string_view message, LogFields fields = {});
void log_warn(std::string_view message, LogFields fields = {});
void log_error(std::string_view message, LogFields fields = {});

void set_log_level(LogLevel level);
void set_log_limits(const LogLimits& limits);

// Parses "debug", "info", "warn", "error" or "off". Errors: invalid, listing these words.
[[nodiscard]] Result<LogLevel> parse_log_level(std::string_view text);

// One field as it is printed, name=value. The value is quoted if it is empty or holds spaces,
// quotes, '=' or control characters. Control characters are escaped by escape_for_terminal(), so
// that one call always prints one line.
[[nodiscard]] std::string format_log_field(const LogField& field);

}  // namespace holdfast
