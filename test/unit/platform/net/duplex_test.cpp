// Connections in memory: order, ends, limits and deadlines, in virtual time.

#include "platform/net/duplex.h"

#include <array>

#include "platform/loop/tasks.h"
#include "test/support/virtual_time.h"

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;

class DuplexTest : public ::testing::Test {
 protected:
  ~DuplexTest() override {
    tasks_.cancel();
    time_.settle();
  }
  // Starts a read; the text it read, "<end>" or the error appears in the result.
  std::shared_ptr<std::string> read(std::shared_ptr<Connection> from) {
    auto seen = std::make_shared<std::string>();
    tasks_.spawn("read",
                 [](std::shared_ptr<Connection> connection,
                    std::shared_ptr<std::string> into) -> asio::awaitable<void> {
                   std::array<char, 100> block{};
                   const auto count = co_await connection->read_some(block);
                   *into = !count        ? count.error().what
                           : *count == 0 ? "<end>"
                                         : std::string(block.data(), *count);
                 }(std::move(from), seen));
    time_.settle();
    return seen;
  }
  std::shared_ptr<std::string> write(std::shared_ptr<Connection> to, std::string text) {
    auto seen = std::make_shared<std::string>();
    tasks_.spawn("write",
                 [](std::shared_ptr<Connection> connection, std::string bytes,
                    std::shared_ptr<std::string> into) -> asio::awaitable<void> {
                   const Status sent = co_await connection->write(bytes);
                   *into = sent ? "sent" : sent.error().what;
                 }(std::move(to), std::move(text), seen));
    time_.settle();
    return seen;
  }

  test::VirtualTime time_;
  loop::Tasks tasks_{time_.executor()};
  Duplex pair_ = make_duplex(time_.executor(), 4);
};

TEST_F(DuplexTest, BytesGoBothWaysAndEndsAreSeen) {
  EXPECT_EQ(*write(pair_.near, "ab"), "sent");
  EXPECT_EQ(*write(pair_.far, "cd"), "sent");
  EXPECT_EQ(*read(pair_.far), "ab");
  EXPECT_EQ(*read(pair_.near), "cd");
  pair_.near->shutdown_write();
  EXPECT_EQ(*read(pair_.far), "<end>");
  EXPECT_EQ(*write(pair_.far, "x"), "sent");
  EXPECT_EQ(*read(pair_.near), "x") << "the other direction goes on";
}

TEST_F(DuplexTest, AWriterWaitsForItsReader) {
  const auto written = write(pair_.near, "0123456789");
  EXPECT_EQ(*written, "");
  EXPECT_EQ(*read(pair_.far), "0123");
  EXPECT_EQ(*read(pair_.far), "4567");
  EXPECT_EQ(*written, "sent");
}

TEST_F(DuplexTest, AClosedEndIsAnErrorForWritersAndTheEndForReaders) {
  const auto waiting = write(pair_.near, "0123456789");
  const auto reading = read(pair_.near);
  pair_.far->close();
  time_.settle();
  EXPECT_EQ(*waiting, "write: nobody reads any more");
  EXPECT_EQ(*reading, "<end>");
  EXPECT_EQ(*read(pair_.far), "read: the connection was closed");
  EXPECT_EQ(*write(pair_.far, "x"), "write: the connection was closed");
}

TEST_F(DuplexTest, ADestroyedEndIsClosed) {
  const auto reading = read(pair_.near);
  pair_.far.reset();
  time_.settle();
  EXPECT_EQ(*reading, "<end>");
}

TEST_F(DuplexTest, DeadlinesHoldForWaitsThatHaveBegun) {
  const auto reading = read(pair_.near);
  pair_.near->expires_at(time_.clock().mono() + 5s);
  time_.run(4s);
  EXPECT_EQ(*reading, "");
  time_.run(2s);
  EXPECT_EQ(*reading, "read: deadline passed");
}

}  // namespace
}  // namespace holdfast::net
