#include "test/attack/relay.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>

#include "test/attack/wire.h"

namespace holdfast::attack {

int relay(std::uint16_t from, std::uint16_t to) {
  const Socket listener = listen_on(from);
  if (!listener.open()) return 1;
  for (;;) {
    const Socket near(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    const Socket far = connect_to(to);
    if (!near.open() || !far.open()) continue;
    for (bool open = true; open;) {
      std::array<pollfd, 2> ends = {{{near.fd(), POLLIN, 0}, {far.fd(), POLLIN, 0}}};
      open = poll(ends.data(), ends.size(), 10'000) > 0;
      for (std::size_t i = 0; open && i < ends.size(); ++i) {
        if (ends[i].revents == 0) continue;
        const std::string bytes = (i == 0 ? near : far).receive();
        open = !bytes.empty() && (i == 0 ? far : near).send(bytes) == bytes.size();
      }
    }
  }
}

}  // namespace holdfast::attack
