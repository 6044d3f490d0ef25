// Tells the service manager how we are: sd_notify(3) without libsystemd.
//
// Under no service manager (NOTIFY_SOCKET unset) every message goes nowhere and succeeds.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::proc {

// Reads an environment variable; nothing when it is unset.
using Environment = std::function<std::optional<std::string>(const char* name)>;

[[nodiscard]] std::optional<std::string> system_environment(const char* name);

class Notifier {
 public:
  // Errors: invalid when NOTIFY_SOCKET is neither a path nor an abstract name, or too long.
  [[nodiscard]] static Result<Notifier> from(const Environment& environment);

  // Errors: unavailable, not_found, ... from the socket. Never blocks.
  [[nodiscard]] Status ready() const { return send("READY=1"); }
  [[nodiscard]] Status stopping() const { return send("STOPPING=1"); }
  [[nodiscard]] Status watchdog() const { return send("WATCHDOG=1"); }
  [[nodiscard]] Status status(std::string_view text) const;

  // How often watchdog() has to be called at least; half of it is a good habit. Nothing when the
  // manager watches nobody, or another process.
  [[nodiscard]] std::optional<Duration> watchdog_interval() const { return watchdog_interval_; }

 private:
  Notifier(std::string socket, std::optional<Duration> watchdog_interval)
      : socket_(std::move(socket)), watchdog_interval_(watchdog_interval) {}
  [[nodiscard]] Status send(std::string_view message) const;

  std::string socket_;  // "/run/...", "@name", or empty
  std::optional<Duration> watchdog_interval_;
};

}  // namespace holdfast::proc
