// Tests that a stream over loopback never waits for one of the kernel's timers unnoticed.

#include "test/support/loopback.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "platform/fs/descriptor.h"

namespace holdfast {
namespace {

// A connection of which both ends are in this process.
struct Pair {
  Descriptor listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  Descriptor sender{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  Descriptor receiver;

  Pair() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);  // as the socket API wants it
    EXPECT_EQ(::bind(listener.get(), any, size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), any, &size), 0);
    EXPECT_EQ(::connect(sender.get(), any, size), 0);
    receiver = Descriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
};

// Sends and reads as long as that is possible at once. Returns the bytes that were read.
std::size_t exchange(const Pair& pair, std::size_t& left) {
  static const std::string text(std::size_t{1} << 20, 'x');
  std::array<char, 8000> buffer{};
  std::size_t read = 0;
  for (;;) {
    const ssize_t sent =
        ::send(pair.sender.get(), text.data(), std::min(left, text.size()), MSG_DONTWAIT);
    if (sent > 0) left -= static_cast<std::size_t>(sent);
    const ssize_t got = ::recv(pair.receiver.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) read += static_cast<std::size_t>(got);
    if (sent <= 0 && got <= 0) return read;
  }
}

TEST(Loopback, WhatWasSentIsThereAfterTheBarrierThoughTheKernelHeldItBack) {
  test::LoopbackBarrier barrier;
  const Pair pair;
  const int buffer = 16 * 1024;  // less than a segment
  ASSERT_EQ(::setsockopt(pair.receiver.get(), SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer), 0);
  constexpr std::size_t all = 200'003;
  std::size_t left = all;
  std::size_t read = exchange(pair, left);
  while (read < all) {
    barrier.wait();
    const std::size_t more = exchange(pair, left);
    ASSERT_GT(more, 0U) << "after " << read << " bytes";
    read += more;
  }
}

}  // namespace
}  // namespace holdfast
