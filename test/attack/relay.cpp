#include "test/attack/relay.h"

#include <poll.h>
#include <sys/socket.h>

#include <vector>

#include "test/attack/wire.h"

namespace holdfast::attack {
namespace {

struct Pair {
  Socket near;
  Socket far;
};

// Forwards the bytes that are waiting at one end. Returns whether both ends are still open.
bool pass(const Socket& from, const Socket& to) {
  const std::string bytes = from.receive(0ms);
  return !bytes.empty() && to.send(bytes) == bytes.size();
}

void accept_one(const Socket& listener, std::uint16_t to, std::vector<Pair>& pairs) {
  Pair pair{Socket(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC)), connect_to(to)};
  if (pair.near.open() && pair.far.open()) pairs.push_back(std::move(pair));
}

}  // namespace

int relay(std::uint16_t from, std::uint16_t to) {
  const Socket listener = listen_on(from);
  if (!listener.open()) return 1;
  std::vector<Pair> pairs;
  for (;;) {
    std::vector<pollfd> watched = {{listener.fd(), POLLIN, 0}};
    for (const Pair& pair : pairs) {
      watched.push_back({pair.near.fd(), POLLIN, 0});
      watched.push_back({pair.far.fd(), POLLIN, 0});
    }
    if (poll(watched.data(), watched.size(), -1) < 0) continue;
    for (std::size_t i = pairs.size(); i-- > 0;) {
      bool open = true;
      if (watched[1 + 2 * i].revents != 0) open = pass(pairs[i].near, pairs[i].far);
      if (open && watched[2 + 2 * i].revents != 0) open = pass(pairs[i].far, pairs[i].near);
      if (!open) pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (watched[0].revents != 0) accept_one(listener, to, pairs);
  }
}

}  // namespace holdfast::attack
