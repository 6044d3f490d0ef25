// When a WebSocket gives up on its peer, in virtual time.

#include "agent/node/kubelet/web_socket.h"

#include <array>

#include "platform/loop/tasks.h"
#include "platform/net/duplex.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::node {
namespace {

using namespace std::chrono_literals;

// A WebSocket that waits for a message and sends pings to a peer that is played by the test.
class KubeletWebSocket : public testing::Test {
 protected:
  ~KubeletWebSocket() override {
    tasks_.cancel();
    time_.settle();
  }
  // With `answers` the peer answers everything with a pong.
  void start(bool answers) {
    tasks_.spawn("read", read());
    tasks_.spawn("pings", socket_.keep_alive());
    tasks_.spawn("peer", play_peer(answers));
    time_.settle();
  }
  asio::awaitable<void> read() {
    const auto message = co_await socket_.read();
    ended_ = message ? "a message" : std::string(to_string(message.error().code));
  }
  asio::awaitable<void> play_peer(bool answers) {
    const std::string pong = http::websocket::frame(http::websocket::Opcode::pong, "", "mask");
    std::array<char, 1000> block{};
    for (;;) {
      const auto count = co_await pair_.near->read_some(block);
      if (!count || *count == 0) co_return;
      ++pings_;
      if (answers) (void)co_await pair_.near->write(pong);
    }
  }

  holdfast::test::VirtualTime time_;
  loop::Tasks tasks_{time_.executor()};
  net::Duplex pair_ = net::make_duplex(time_.executor(), 1000);
  WebSocket socket_{time_.executor(), pair_.far};
  std::string ended_;
  int pings_ = 0;
};

TEST_F(KubeletWebSocket, APeerThatIsSilentForTwoMinutesIsGone) {
  start(false);
  time_.run(2min - 1s);
  EXPECT_EQ(ended_, "");
  EXPECT_EQ(pings_, 7) << "one in 15 s";
  time_.run(2s);
  EXPECT_EQ(ended_, "timeout");
}

TEST_F(KubeletWebSocket, WithoutAMessageItEndsAfterFourHours) {
  start(true);
  time_.run(4h - 1s);
  EXPECT_EQ(ended_, "");
  time_.run(2s);
  EXPECT_EQ(ended_, "cancelled") << "its own end was closed";
}

}  // namespace
}  // namespace holdfast::agent::node
