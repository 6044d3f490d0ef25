// A client's HTTP/2 connection to a faulty server: it stops answering, goes away during requests,
// breaks streams off, or sends invalid data. In virtual time.

#include "test/unit/platform/http2_peer.h"
#include "platform/http/stream_reset.h"
#include "platform/loop/timer.h"

namespace holdfast::http::h2::peer_test {
namespace {

const Headers ok{{":status", "200"}};

void answer_ok(Engine& engine, StreamId id) {
  engine.respond(id, ok, false);
  engine.send(id, "hello", true);
}
void never(Engine&, StreamId) {}
void open_stream(Engine& engine, StreamId id) {
  engine.respond(id, ok, false);
  engine.send(id, "one", false);
}

std::string goaway_frame(StreamId last) {
  std::string frame{'\0', '\0', '\x08', '\x07', '\0', '\0', '\0', '\0', '\0'};
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>((last >> shift) & 0xff);
  return frame + std::string(4, '\0');
}

std::string text(const Outcome& outcome) {
  if (!outcome.answer) return "nothing";
  const std::string fates[] = {"final", "unprocessed", "broken"};
  const std::string failure = ", " + fates[static_cast<std::size_t>(outcome.failure)];
  if (!*outcome.answer) return std::string(to_string(outcome.answer->error().code)) + failure;
  return std::to_string((*outcome.answer)->status) + " " + (*outcome.answer)->body;
}

Script head_alone(const Headers& fields) {
  return [fields](Engine& engine, StreamId id) { engine.respond(id, fields, true); };
}

TEST(Http2Peer, WhatAnAnswerComesTo) {
  struct Case {
    const char* what;
    Script script;
    std::string outcome;
  };
  const std::string big(3000, 'x');
  const Case cases[] = {
      {"a good answer", answer_ok, "200 hello"},
      {"nothing", never, "timeout, final"},
      {"an answer without a body", head_alone({{":status", "404"}, {"content-length", "0"}}),
       "404 "},
      {"a status that is none", head_alone({{":status", "051"}}), "corrupt, final"},
      {"reset", [](Engine& engine, StreamId id) { engine.reset(id, Code::internal_error); },
       "unavailable, final"},
      {"refused", [](Engine& engine, StreamId id) { engine.reset(id, Code::refused_stream); },
       "unavailable, unprocessed"},
      {"reset in the middle",
       [](Engine& engine, StreamId id) {
         engine.respond(id, ok, false);
         engine.reset(id, Code::cancel);
       },
       "unavailable, final"},
      {"headers over the limit",
       [big](Engine& engine, StreamId id) {
         engine.respond(id, {{":status", "200"}, {"x", big}}, true);
       },
       "exhausted, final"},
      {"a body over the limit",
       [big](Engine& engine, StreamId id) {
         engine.respond(id, ok, false);
         engine.send(id, big, true);
       },
       "exhausted, final"},
      {"no status", head_alone({{"x", "y"}}), "unavailable, final"},
      {"an interim answer that ends the stream", head_alone({{":status", "103"}}),
       "unavailable, final"},
      {"101, which HTTP/2 has not", head_alone({{":status", "101"}}), "unavailable, final"},
      {"a header of a connection", head_alone({{":status", "200"}, {"connection", "close"}}),
       "unavailable, final"},
      {"a coding", head_alone({{":status", "200"}, {"transfer-encoding", "chunked"}}),
       "unavailable, final"},
      {"a line in a value", head_alone({{":status", "200"}, {"x", "a\r\nb: c"}}),
       "unavailable, final"},
      {"two statuses", head_alone({{":status", "200"}, {":status", "201"}}), "unavailable, final"},
      {"less than its length",
       [](Engine& engine, StreamId id) {
         engine.respond(id, {{":status", "200"}, {"content-length", "6"}}, false);
         engine.send(id, "hello", true);
       },
       "unavailable, final"},
      {"more than its length",
       [](Engine& engine, StreamId id) {
         engine.respond(id, {{":status", "200"}, {"content-length", "4"}}, false);
         engine.send(id, "hello", true);
       },
       "unavailable, final"},
      {"two lengths",
       [](Engine& engine, StreamId id) {
         engine.respond(id, {{":status", "200"}, {"content-length", "5"}, {"content-length", "5"}},
                        false);
         engine.send(id, "hello", true);
       },
       "unavailable, final"},
  };
  for (const Case& c : cases) {
    Http2PeerFixture fixture(c.script, {.reader = {.header_bytes = 2000, .body_bytes = 2000}});
    const auto outcome = fixture.ask(false, 5s);
    fixture.time.run(6s);
    EXPECT_EQ(text(*outcome), c.outcome) << c.what;
    EXPECT_EQ(fixture.session->streams(), 0u) << c.what;
  }
}

TEST(Http2Peer, DataBeforeAHeadIsCorrupt) {
  Http2PeerFixture* fixture = nullptr;
  Http2PeerFixture made([&fixture](Engine&, StreamId) {
    // DATA of stream 1 with END_STREAM.
    fixture->peer.after = std::string("\0\0\5\0\1\0\0\0\1hello", 14);
  });
  fixture = &made;
  const auto outcome = made.ask(false, 5s);
  made.time.run(6s);
  EXPECT_EQ(text(*outcome), "corrupt, final");
}

// The head, the beginning of the body and the reset arrive together.
TEST(Http2Peer, ABodyThatIsBrokenOffAtOnceIsTheBodyOfAnAnswer) {
  Http2PeerFixture fixture(open_stream);
  // RST_STREAM of stream 1: INTERNAL_ERROR.
  fixture.peer.after = std::string("\0\0\4\3\0\0\0\0\1\0\0\0\2", 13);
  const auto outcome = fixture.ask(true);
  ASSERT_EQ(text(*outcome), "200 ");
  const auto read = [](std::shared_ptr<BodyStream> from) -> asio::awaitable<void> {
    EXPECT_EQ((co_await from->next()).value(), "one");
    const auto end = co_await from->next();
    EXPECT_TRUE(is_broken_off(end.error()));
    EXPECT_EQ(end.error().what, "the server ended the stream: INTERNAL_ERROR");
    EXPECT_EQ(end.error().cause.message(), "INTERNAL_ERROR");
  };
  fixture.time.complete(read((*outcome->answer)->stream));
  EXPECT_EQ(fixture.session->state(), Session::State::ready) << "for other requests";
}

TEST(Http2Peer, NonsenseIsCorruptAndHangingUpIsUnavailable) {
  struct Case {
    const char* what;
    std::string says;
    bool hangs_up;
    std::string outcome;
  };
  const std::string settings{"\0\0\0\x04\0\0\0\0\0", 9};
  const Case cases[] = {
      {"HTTP/1.1", "HTTP/1.1 400 Bad Request\r\n\r\n", false, "corrupt, final"},
      {"garbage", std::string(200, '\xfe'), false, "corrupt, final"},
      {"a frame that is too long", settings + std::string("\xff\xff\xff\0\0\0\0\0\x01", 9), false,
       "corrupt, final"},
      {"closes", "", true, "unavailable, broken"},
  };
  for (const Case& c : cases) {
    Http2PeerFixture fixture(never);
    fixture.peer.before = c.says;
    fixture.peer.hangs_up = c.hangs_up;
    const auto outcome = fixture.ask();
    fixture.time.run(1s);
    EXPECT_EQ(text(*outcome), c.outcome) << c.what;
    EXPECT_EQ(fixture.session->state(), Session::State::ending) << c.what;
  }
}

TEST(Http2Peer, ASilentServerIsAskedForASignOfLifeAndGivenUp) {
  Http2PeerFixture fixture(open_stream);
  const auto outcome = fixture.ask(true);
  ASSERT_EQ(text(*outcome), "200 ");
  const auto stream = (*outcome->answer)->stream;
  const std::size_t heard = fixture.peer.heard;
  fixture.time.run(30s);
  EXPECT_GT(fixture.peer.heard, heard) << "the client has sent a PING";
  EXPECT_EQ(fixture.session->state(), Session::State::ready) << "the server has answered the PING";
  fixture.peer.stalled = true;
  const MonoTime stalled_since = fixture.time.clock().mono();
  const auto over = [&fixture] { return fixture.session->state() == Session::State::ending; };
  ASSERT_TRUE(fixture.time.run_until(60s, over));
  const Duration took = fixture.time.clock().mono() - stalled_since;
  const SessionLimits limits;
  EXPECT_LE(took, limits.ping_after + limits.ping_timeout + 1s);
  std::vector<std::string> pieces;
  const auto read = [](std::shared_ptr<BodyStream> from,
                       std::vector<std::string>& into) -> asio::awaitable<void> {
    for (;;) {
      const auto piece = co_await from->next();
      into.push_back(piece ? *piece : std::string(to_string(piece.error().code)));
      if (!piece) co_return;
    }
  };
  fixture.time.complete(read(stream, pieces));
  EXPECT_EQ(pieces, (std::vector<std::string>{"one", "unavailable"}));
}

TEST(Http2Peer, ATimeoutInSilenceKeepsNewRequestsAwayUntilTheServerSpeaks) {
  Http2PeerFixture fixture(open_stream);
  const auto watch = fixture.ask(true);
  fixture.time.run(1s);
  ASSERT_EQ(fixture.session->state(), Session::State::ready);
  fixture.peer.stalled = true;
  const auto late = fixture.ask(false, 1s);
  fixture.time.run(2s);
  EXPECT_EQ(text(*late), "timeout, final");
  EXPECT_EQ(fixture.session->state(), Session::State::suspect);
  fixture.peer.stalled = false;
  fixture.peer.before = std::string("\0\0\x08\x06\0\0\0\0\0", 9) + "12345678";  // PING
  fixture.time.complete(fixture.peer.speak());
  fixture.time.run(1s);
  EXPECT_EQ(fixture.session->state(), Session::State::ready);
}

TEST(Http2Peer, ATimeoutWhileTheServerSpeaksIsTheRequestsOwn) {
  Http2PeerFixture fixture(open_stream);
  const auto watch = fixture.ask(true);
  const auto slow = fixture.ask(false, 1s);
  fixture.time.run(2s);
  EXPECT_EQ(text(*slow), "timeout, final") << "the response never ended";
  EXPECT_EQ(fixture.session->state(), Session::State::ready);
  EXPECT_EQ(fixture.session->streams(), 1u);
  EXPECT_EQ(fixture.peer.closed, std::vector<Code>{Code::cancel})
      << "the server gets a reset of the stream";
}

TEST(Http2Peer, GoingAwayLetsOldStreamsFinish) {
  Http2PeerFixture fixture(never);
  const auto first = fixture.ask();
  const auto second = fixture.ask();
  fixture.peer.after = goaway_frame(1);
  answer_ok(fixture.peer.engine, 1);
  fixture.time.complete(fixture.peer.speak());
  fixture.time.run(1s);
  EXPECT_EQ(text(*first), "200 hello");
  EXPECT_EQ(text(*second), "unavailable, unprocessed")
      << "its number is above the last stream of GOAWAY";
  EXPECT_EQ(fixture.session->state(), Session::State::ending);
  const auto third = fixture.ask();
  EXPECT_EQ(text(*third), "unavailable, unprocessed");
  EXPECT_TRUE(fixture.peer.gone) << "a connection without streams is closed";
}

TEST(Http2Peer, AnIdleConnectionIsClosedInTheEnd) {
  Http2PeerFixture fixture(answer_ok, {.idle = 20s});
  const auto first = fixture.ask();
  fixture.time.run(15s);
  const auto second = fixture.ask();
  fixture.time.run(15s);
  EXPECT_EQ(text(*second), "200 hello");
  EXPECT_FALSE(fixture.peer.gone);
  fixture.time.run(10s);
  EXPECT_TRUE(fixture.peer.gone);
}

// It gets little at first, and its whole window once the path is known to carry that.
TEST(Http2Peer, AReaderThatDoesNotReadHoldsTheServerBack) {
  const std::string flood(1'000'000, 'x');
  const SessionSettings settings{.limits = {.stream_window = 100'000}};
  Http2PeerFixture fixture(
      [&flood](Engine& engine, StreamId id) {
        engine.respond(id, ok, false);
        engine.send(id, flood, true);
      },
      settings);
  const auto outcome = fixture.ask(true);
  fixture.time.run(1s);
  EXPECT_EQ(fixture.peer.engine.unsent(1), flood.size() - 16 * 1024);
  std::size_t read = 0;
  const auto read_all = [](std::shared_ptr<BodyStream> from,
                           std::size_t& count) -> asio::awaitable<void> {
    for (;;) {
      const auto piece = co_await from->next();
      if (!piece || piece->empty()) co_return;
      EXPECT_LE(piece->size(), 100'000u);
      count += piece->size();
    }
  };
  fixture.time.complete(read_all((*outcome->answer)->stream, read));
  EXPECT_EQ(read, flood.size());
  fixture.time.run(1s);
  const auto second = fixture.ask(true);
  fixture.time.run(1s);
  EXPECT_EQ(fixture.peer.engine.unsent(3), flood.size() - 100'000);
}

}  // namespace
}  // namespace holdfast::http::h2::peer_test
