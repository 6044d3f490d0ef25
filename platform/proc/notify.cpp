#include "platform/proc/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "platform/fs/descriptor.h"
#include "platform/fs/errno.h"
#include "platform/text.h"

namespace holdfast::proc {
namespace {

std::optional<Duration> read_watchdog(const Environment& environment) {
  const auto pid = environment("WATCHDOG_PID");
  if (pid && parse_int<pid_t>(*pid) != ::getpid()) return std::nullopt;
  const auto usec = environment("WATCHDOG_USEC");
  if (!usec) return std::nullopt;
  const auto count = parse_int<std::int64_t>(*usec);
  constexpr std::int64_t most = std::int64_t{1} << 50;  // does not overflow as nanoseconds
  if (!count || *count <= 0 || *count > most) return std::nullopt;
  return std::chrono::microseconds(*count);
}

}  // namespace

std::optional<std::string> system_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

Result<Notifier> Notifier::from(const Environment& environment) {
  const std::string socket = environment("NOTIFY_SOCKET").value_or("");
  const bool known = socket.empty() || socket.front() == '/' || socket.front() == '@';
  if (!known || socket.size() >= sizeof(sockaddr_un::sun_path)) {
    return fail(Errc::invalid, "NOTIFY_SOCKET is not a usable socket name: \"" + socket + "\"");
  }
  return Notifier(socket, read_watchdog(environment));
}

Status Notifier::status(std::string_view text) const {
  std::string message = "STATUS=";
  for (const char c : text)
    message += c == '\n' ? ' ' : c;  // Each line would be a separate message.
  return send(message);
}

Status Notifier::send(std::string_view message) const {
  if (socket_.empty()) return {};
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return fail_errno("notify the service manager");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  const ssize_t sent =
      ::sendto(socket.get(), message.data(), message.size(), MSG_NOSIGNAL, generic, length);
  if (sent < 0) return fail_errno("notify the service manager at " + socket_);
  return {};
}

}  // namespace holdfast::proc
