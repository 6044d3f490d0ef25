// SPDY/3.1 frames, with hostile ones, and sessions in virtual time.

#include <array>

#include "platform/http/spdy/session.h"
#include "platform/loop/tasks.h"
#include "platform/net/duplex.h"
#include "test/support/virtual_time.h"

namespace holdfast::http::spdy {
namespace {

using namespace std::chrono_literals;

std::string bytes_of(std::initializer_list<int> bytes) {
  std::string made;
  for (const int byte : bytes) made += static_cast<char>(byte);
  return made;
}

// Frames as "KIND/STREAM[+fin][ name=value][ DATA]", and the error.
std::string text_of(FrameReader& reader, std::string_view bytes, std::size_t piece) {
  std::string seen;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const Status put = reader.put(bytes.substr(at, piece));
    while (const auto frame = reader.take()) {
      seen += std::to_string(static_cast<int>(frame->kind)) + "/" + std::to_string(frame->stream);
      if (frame->fin) seen += "+fin";
      for (const Header& header : frame->headers) seen += " " + header.name + "=" + header.value;
      if (!frame->data.empty()) seen += " " + frame->data;
      seen += "; ";
    }
    if (!put) return seen + put.error().what;
  }
  return seen;
}

TEST(SpdyFrames, AreReadInAnyPieces) {
  for (const std::size_t piece : {1UL, 7UL, 100'000UL}) {
    HeaderEncoder encoder;
    // In this order: each block of headers depends on those before it.
    std::string bytes =
        syn_stream_frame(1, {{"streamType", "error"}, {"port", "80"}}, false, encoder);
    bytes += syn_stream_frame(3, {{"streamType", "data"}}, true, encoder);
    bytes += syn_reply_frame(3, {}, encoder);
    bytes += data_frame(3, "hello", false) + data_frame(3, "", true);
    bytes += ping_frame(7) + rst_frame(3, 5);
    bytes += bytes_of({0x80, 3, 0, 4, 0, 0, 0, 4, 0, 0, 0, 0});              // settings
    bytes += bytes_of({0x80, 3, 0, 77, 0, 0, 0, 2, 1, 2});                   // an unknown kind
    bytes += bytes_of({0x80, 3, 0, 9, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 9});  // a window
    FrameReader reader;
    EXPECT_EQ(text_of(reader, bytes, piece),
              "1/1 streamtype=error port=80; 1/3+fin streamtype=data; 2/3; 0/3 hello; 0/3+fin; "
              "6/7; 3/3; 4/0; 9/3; ");
  }
}

TEST(SpdyFrames, BrokenOnesAreRefused) {
  HeaderEncoder encoder;
  const std::string bomb = syn_stream_frame(1, {{"a", std::string(60'000, 'x')}}, false, encoder);
  Headers many;
  for (int i = 0; i < 100; ++i) many.add("a", "b");
  HeaderEncoder other;
  const struct {
    const char* what;
    std::string bytes;
    const char* seen;
  } rows[] = {
      {"another version", bytes_of({0x80, 2, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1}), "SPDY: not version 3"},
      {"a short frame", bytes_of({0x80, 3, 0, 1, 0, 0, 0, 2, 0, 0}), "SPDY: a frame is too short"},
      {"a large frame", bytes_of({0, 0, 0, 1, 0, 0xff, 0xff, 0xff}),
       "SPDY: a frame of more than 131072 bytes"},
      {"headers that are no zlib", bytes_of({0x80, 3, 0, 2, 0, 0, 0, 8, 0, 0, 0, 1, 9, 9, 9, 9}),
       "SPDY: headers are not compressed correctly"},
      {"no headers", bytes_of({0x80, 3, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1}),
       "SPDY: headers end too early"},
      {"headers that expand", bomb, "SPDY: headers of more than 16384 bytes"},
      {"many headers", syn_stream_frame(1, many, false, other), "SPDY: too many headers"},
  };
  for (const auto& row : rows) {
    FrameReader reader;
    EXPECT_EQ(text_of(reader, row.bytes, 1000), row.seen) << row.what;
  }
}

// A session with a client that is played by the test.
class SpdySession : public ::testing::Test {
 protected:
  explicit SpdySession(SessionLimits limits = {}) {
    net::Duplex pair = net::make_duplex(time_.executor(), 1UL << 20);
    client_ = pair.near;
    tasks_.spawn("serve", run(pair.far, limits));
    tasks_.spawn("read", read());
    time_.settle();
  }
  ~SpdySession() override {
    client_->close();
    time_.settle();  // Tasks that can end do so before the others are cancelled.
    tasks_.cancel();
    time_.settle();
  }
  asio::awaitable<void> run(std::shared_ptr<net::Connection> far, SessionLimits limits) {
    const auto on_stream = [this](Stream stream) {
      if (stream.headers.has("refuse")) return false;
      streams_.push_back(stream.bytes);
      return true;
    };
    const Status done = co_await serve(far, on_stream, limits);
    ended_ = done ? "ended" : done.error().what;
  }
  asio::awaitable<void> read() {
    std::array<char, 4096> block{};
    for (;;) {
      const auto count = co_await client_->read_some(block);
      if (!count || *count == 0) co_return;
      said_ += text_of(reader_, std::string_view(block.data(), *count), 4096);
    }
  }
  asio::awaitable<void> write(std::shared_ptr<net::Connection> to, std::string bytes) {
    (void)co_await to->write(bytes);
  }
  void send(std::string bytes) {
    tasks_.spawn("send", write(client_, std::move(bytes)));
    time_.settle();
  }
  std::string said() { return std::exchange(said_, {}); }

  test::VirtualTime time_;
  loop::Tasks tasks_{time_.executor()};
  std::shared_ptr<net::Connection> client_;
  HeaderEncoder encoder_;
  FrameReader reader_;
  std::vector<std::shared_ptr<net::Connection>> streams_;
  std::string said_;
  std::string ended_;
};

TEST_F(SpdySession, StreamsAreConnections) {
  send(syn_stream_frame(1, {{"a", "b"}}, false, encoder_) + data_frame(1, "question", true));
  ASSERT_EQ(streams_.size(), 1U);
  std::string heard(20, ' ');
  tasks_.spawn(
      "answer",
      [](std::shared_ptr<net::Connection> stream, std::string& into) -> asio::awaitable<void> {
        const auto count = co_await stream->read_some(into);
        into.resize(count.value_or(0));
        (void)co_await stream->write("answer");
        stream->shutdown_write();
      }(streams_[0], heard));
  time_.settle();
  EXPECT_EQ(heard, "question");
  EXPECT_EQ(said(), "2/1; 0/1 answer; 0/1+fin; ");
  send(ping_frame(5) + ping_frame(6));
  EXPECT_EQ(said(), "6/5; ") << "only the client's pings are answered";
  send(rst_frame(1, 5) + rst_frame(99, 5) + data_frame(99, "x", false));
  EXPECT_EQ(ended_, "") << "unknown streams are ignored";
  client_->close();
  time_.settle();
  EXPECT_EQ(ended_, "ended");
}

TEST_F(SpdySession, RefusesStreamsOverTheLimitAndUnwantedOnes) {
  send(syn_stream_frame(1, {{"refuse", "1"}}, false, encoder_));
  EXPECT_EQ(said(), "3/1; ");
  std::string many;
  for (std::uint32_t id = 3; id < 3 + 2 * 65; id += 2) {
    many += syn_stream_frame(id, {}, false, encoder_);
  }
  send(many);
  EXPECT_EQ(streams_.size(), 64U);
  EXPECT_NE(said().find("2/129; 3/131; "), std::string::npos);
}

TEST_F(SpdySession, AReusedNumberEndsIt) {
  send(syn_stream_frame(3, {}, false, encoder_));
  send(syn_stream_frame(1, {}, false, encoder_));
  EXPECT_EQ(ended_, "SPDY: the number of a stream is not a new one of a client");
}

TEST_F(SpdySession, EndsFourHoursAfterItsLastFrame) {
  time_.run(3h);
  send(ping_frame(5));
  time_.run(4h - 1s);
  EXPECT_EQ(ended_, "");
  time_.run(2s);
  EXPECT_EQ(ended_, "read: deadline passed");
}

TEST_F(SpdySession, AStreamWithoutAReaderHoldsLittleAndEndsTheSessionAtLast) {
  send(syn_stream_frame(1, {}, false, encoder_));
  for (int i = 0; i < 100; ++i) send(data_frame(1, std::string(100'000, 'x'), false));
  EXPECT_EQ(ended_, "");
  EXPECT_TRUE(time_.run_until(20min, [this] { return !ended_.empty(); }));
}

}  // namespace
}  // namespace holdfast::http::spdy
