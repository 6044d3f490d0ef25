#include "platform/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <map>
#include <memory>
#include <mutex>

#include "platform/terminal.h"
#include "platform/time.h"

namespace holdfast {
namespace {

// Counts how often each message was printed recently.
class Throttle {
 public:
  // Returns how many repetitions were suppressed since the last printed one, or -1 if this one is
  // to be suppressed, too.
  int admit(std::string_view message) {
    const std::lock_guard lock(mutex_);
    const MonoTime now = SystemClock().mono();
    if (counts_.size() >= messages_max) forget(now);
    Count& count = counts_[std::string(message)];
    if (now - count.since >= limits.window) {
      const int held = count.held;
      count = {.since = now, .printed = 1, .held = 0};
      return held;
    }
    if (count.printed < limits.burst) {
      ++count.printed;
      return 0;
    }
    ++count.held;
    return -1;
  }

  LogLimits limits;

 private:
  struct Count {
    MonoTime since = MonoTime(-std::chrono::hours(1));
    int printed = 0;
    int held = 0;
  };
  // Most messages are string literals. The few that are not must not take memory for ever.
  static constexpr std::size_t messages_max = 1000;

  // Forgets the messages whose window has ended or, if there are none, all.
  void forget(MonoTime now) {
    const auto ended = [this, now](const auto& each) {
      return now - each.second.since >= limits.window;
    };
    if (std::erase_if(counts_, ended) == 0) counts_.clear();
  }

  std::mutex mutex_;
  std::map<std::string, Count> counts_;
};

Throttle& throttle() {
  static Throttle instance;
  return instance;
}

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = std::make_shared<spdlog::logger>("holdfast",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    made->set_level(spdlog::level::info);
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return *instance;
}

void print(spdlog::level::level_enum level, std::string_view message, LogFields fields) {
  if (!logger().should_log(level)) return;
  const int held = throttle().admit(message);
  if (held < 0) return;
  std::string line(message);
  for (const LogField& field : fields) line += " " + format_log_field(field);
  if (held > 0) line += " repeated=" + std::to_string(held);
  logger().log(level, spdlog::string_view_t(line.data(), line.size()));
}

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > ' ' && byte != '"' && byte != '=' && byte != '\\' && byte != 0x7f;
}

}  // namespace

LogField::LogField(std::string_view name, const Error& error)
    : name_(name), value_(std::string(to_string(error.code)) + ": " + error.what) {}

void log_debug(std::string_view message, LogFields fields) {
  print(spdlog::level::debug, message, fields);
}
void log_info(std::string_view message, LogFields fields) {
  print(spdlog::level::info, message, fields);
}
void log_warn(std::string_view message, LogFields fields) {
  print(spdlog::level::warn, message, fields);
}
void log_error(std::string_view message, LogFields fields) {
  print(spdlog::level::err, message, fields);
}

void set_log_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return logger().set_level(spdlog::level::debug);
    case LogLevel::info:
      return logger().set_level(spdlog::level::info);
    case LogLevel::warn:
      return logger().set_level(spdlog::level::warn);
    case LogLevel::error:
      return logger().set_level(spdlog::level::err);
    case LogLevel::off:
      return logger().set_level(spdlog::level::off);
  }
}

void set_log_limits(const LogLimits& limits) { throttle().limits = limits; }

Result<LogLevel> parse_log_level(std::string_view text) {
  if (text == "debug") return LogLevel::debug;
  if (text == "info") return LogLevel::info;
  if (text == "warn") return LogLevel::warn;
  if (text == "error") return LogLevel::error;
  if (text == "off") return LogLevel::off;
  return fail(Errc::invalid,
              "log level \"" + std::string(text) + "\" is none of debug, info, warn, error, off");
}

std::string format_log_field(const LogField& field) {
  bool plain = !field.value().empty();
  for (const char c : field.value()) plain = plain && is_plain(c);
  std::string value;
  for (const char c : field.value()) {
    if (c == '"' || c == '\\') value += '\\';
    value += c;
  }
  const std::string safe = escape_for_terminal(value);
  plain = plain && safe == value;
  return std::string(field.name()) + "=" + (plain ? safe : '"' + safe + '"');
}

}  // namespace holdfast
