// Finds a port of 127.0.0.1 for a program that a test starts.

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace holdfast::test {

// A port on which nothing was listening just now; 0 if there is none. It lies below the range of
// the kernel's ephemeral ports, so that no outgoing connection can take it before the program
// listens. Test programs that run in parallel start their search at different ports.
[[nodiscard]] inline std::uint16_t free_port() {
  constexpr int first = 20'000;
  constexpr int count = 12'000;
  static int next = getpid() * 97;
  for (int tried = 0; tried < count; ++tried) {
    const auto port = static_cast<std::uint16_t>(first + ++next % count);
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    (void)setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
    const bool free = bind(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 &&
                      listen(socket, 1) == 0;
    (void)close(socket);
    if (free) return port;
  }
  return 0;
}

}  // namespace holdfast::test
