// Reports the service's state to the service manager: sd_notify(3) without libsystemd.
//
// Without a service manager (NOTIFY_SOCKET unset) every message is dropped and succeeds.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::proc {

// Returns the value of an environment variable, or nothing if it is unset.
using Environment = std::function<std::optional<std::string>(const char* name)>;

[[nodiscard]] std::optional<std::string> system_environment(const char* name);

class Notifier {
 public:
  // Errors: invalid if NOTIFY_SOCKET is neither a path nor an abstract name, or is too long.
  [[nodiscard]] static Result<Notifier> from(const Environment& environment);

  // These never block. Errors: those of the socket (unavailable, not_found and others).
  [[nodiscard]] Status ready() const { return send("READY=1"); }
  [[nodiscard]] Status stopping() const { return send("STOPPING=1"); }
  [[nodiscard]] Status watchdog() const { return send("WATCHDOG=1"); }
  [[nodiscard]] Status status(std::string_view text) const;

  // The longest allowed time between calls of watchdog(); calling it twice as often is recommended.
  // Nothing if the watchdog is off or is for another process.
  [[nodiscard]] std::optional<Duration> watchdog_interval() const { return watchdog_interval_; }

 private:
  Notifier(std::string socket, std::optional<Duration> watchdog_interval)
      : socket_(std::move(socket)), watchdog_interval_(watchdog_interval) {}
  [[nodiscard]] Status send(std::string_view message) const;

  std::string socket_;  // "/run/...", "@name", or empty
  std::optional<Duration> watchdog_interval_;
};

}  // namespace holdfast::proc
