// Connecting to addresses that accept no connections.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/loop/timer.h"
#include "platform/net/transport.h"
#include "test/support/real_time.h"

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;

// An address whose accept queue is full: a connection attempt gets no answer.
class FullQueue {
 public:
  // A port of 0 takes a free one.
  FullQueue(int family, std::uint16_t port) : family_(family) {
    const int listener = open_socket(0);
    address_.ss_family = static_cast<sa_family_t>(family);
    if (family == AF_INET) {
      auto* v4 = reinterpret_cast<sockaddr_in*>(&address_);
      v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      v4->sin_port = htons(port);
      size_ = sizeof *v4;
    } else {
      auto* v6 = reinterpret_cast<sockaddr_in6*>(&address_);
      v6->sin6_addr = in6addr_loopback;
      v6->sin6_port = htons(port);
      size_ = sizeof *v6;
    }
    auto* address = reinterpret_cast<sockaddr*>(&address_);
    good_ = bind(listener, address, size_) == 0 && listen(listener, 0) == 0 &&
            getsockname(listener, address, &size_) == 0;
    for (int i = 0; good_ && i < 4; ++i) (void)connect(open_socket(SOCK_NONBLOCK), address, size_);
  }
  ~FullQueue() {
    for (const int fd : sockets_) (void)close(fd);
  }
  FullQueue(const FullQueue&) = delete;
  FullQueue& operator=(const FullQueue&) = delete;

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] std::uint16_t port() const {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address_)->sin_port);
  }

 private:
  int open_socket(int flags) {
    sockets_.push_back(socket(family_, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
    return sockets_.back();
  }

  int family_;
  std::vector<int> sockets_;
  sockaddr_storage address_{};
  socklen_t size_ = 0;
  bool good_ = false;
};

TEST(Connect, TheDeadlineHoldsForAllAddressesOfANameTogether) {
  const FullQueue v4(AF_INET, 0);
  ASSERT_TRUE(v4.good());
  const FullQueue v6(AF_INET6, v4.port());  // without IPv6 only one address is left
  const std::uint16_t port = v4.port();
  test::run_in_real_time([port](asio::io_context&) -> asio::awaitable<void> {
    for (const char* host : {"127.0.0.1", "localhost"}) {
      const MonoTime began = SystemClock().mono();
      HostPort to{host, port};
      const auto connected = co_await connect(std::move(to), nullptr, began + 2s);
      EXPECT_FALSE(connected) << host;
      if (connected) continue;
      EXPECT_EQ(connected.error().code, Errc::timeout) << connected.error().what;
      EXPECT_LT(SystemClock().mono() - began, 3500ms) << host << ": two deadlines take 4 s";
    }
  });
}

}  // namespace
}  // namespace holdfast::net
