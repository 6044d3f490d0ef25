// A client's HTTP/2 connection to a faulty server: it stops answering, goes away during requests,
// breaks streams off, or sends invalid data. In virtual time over real sockets.

#include "platform/http/h2/session.h"

#include "platform/http/h2/engine.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/net/transport.h"
#include "test/support/virtual_time.h"

namespace holdfast::http::h2 {
namespace {

using namespace std::chrono_literals;

// What the server does for each request.
using Script = std::function<void(Engine&, StreamId)>;

class Peer final : public Events {
 public:
  Peer(asio::any_io_executor executor, Script script, EngineLimits limits = {})
      : script_(std::move(script)),
        listener_(net::Listener::open(executor, {"127.0.0.1", 0}, nullptr).value()),
        engine(Engine::Role::server, limits, *this) {}

  [[nodiscard]] net::HostPort at() const { return {"127.0.0.1", listener_->port()}; }

  asio::awaitable<void> run() {
    auto pending = co_await listener_->accept();
    auto made = co_await (*pending)->establish(MonoTime::max());
    connection = *std::move(made);
    std::array<char, 4096> buffer{};
    for (;;) {
      const auto count = co_await connection->read_some(buffer);
      if (!count || *count == 0) break;
      if (deaf) continue;
      heard += *count;
      (void)engine.receive(std::string_view(buffer.data(), *count));
      co_await speak();
    }
    gone = true;
  }

  asio::awaitable<void> speak() {
    const std::string bytes =
        std::exchange(before, {}) + engine.take_output() + std::exchange(after, {});
    if (!bytes.empty()) (void)co_await connection->write(bytes);
    if (hangs_up) connection->close();
  }

  void on_settings() override {}
  void on_headers(StreamId id, Block) override { script_(engine, id); }
  void on_data(StreamId, std::string_view) override {}
  void on_end(StreamId) override {}
  void on_sent(StreamId) override {}
  void on_closed(StreamId, Code code) override { closed.push_back(code); }
  void on_goaway(Code) override {}

 private:
  Script script_;
  std::unique_ptr<net::Listener> listener_;

 public:
  Engine engine;
  std::unique_ptr<net::Connection> connection;
  std::string before;  // raw bytes sent before the engine's output; `after`: sent after it
  std::string after;
  bool deaf = false;
  bool hangs_up = false;
  bool gone = false;
  std::size_t heard = 0;
  std::vector<Code> closed;
};

struct Outcome {
  std::optional<Result<Response>> answer;
  Fate fate = Fate::final;
};

asio::awaitable<void> ask_into(std::shared_ptr<Session> session, std::shared_ptr<Outcome> outcome,
                               bool streamed, Duration limit) {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  const Request request{.target = "/"};
  outcome->answer =
      co_await Session::ask(session, request, streamed, clock.mono() + limit, outcome->fate);
}

asio::awaitable<void> connect_into(net::HostPort at, SessionSettings settings,
                                   std::shared_ptr<Session>& into) {
  const auto executor = co_await asio::this_coro::executor;
  auto made = co_await net::connect(at, nullptr, MonoTime::max());
  into = std::make_shared<Session>(executor, *std::move(made), std::move(settings));
}

struct Rig {
  explicit Rig(Script script, SessionSettings settings = {}, EngineLimits limits = {})
      : peer(time.executor(), std::move(script), limits), tasks(time.executor()) {
    settings.authority = "lab";
    settings.traffic = std::make_shared<Traffic>();
    tasks.spawn("peer", peer.run());
    time.complete(connect_into(peer.at(), std::move(settings), session));
  }
  ~Rig() {
    session.reset();
    tasks.cancel();
    time.settle();
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  std::shared_ptr<Outcome> ask(bool streamed = false, Duration limit = 60s) {
    auto outcome = std::make_shared<Outcome>();
    tasks.spawn("ask", ask_into(session, outcome, streamed, limit));
    time.settle();
    return outcome;
  }

  test::VirtualTime time;
  Peer peer;
  loop::Tasks tasks;
  std::shared_ptr<Session> session;
};

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
  const std::string fate = ", " + fates[static_cast<std::size_t>(outcome.fate)];
  if (!*outcome.answer) return std::string(to_string(outcome.answer->error().code)) + fate;
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
    Rig rig(c.script, {.reader = {.header_bytes = 2000, .body_bytes = 2000}});
    const auto outcome = rig.ask(false, 5s);
    rig.time.run(6s);
    EXPECT_EQ(text(*outcome), c.outcome) << c.what;
    EXPECT_EQ(rig.session->streams(), 0u) << c.what;
  }
}

TEST(Http2Peer, DataBeforeAHeadIsCorrupt) {
  Rig* rig = nullptr;
  Rig made([&rig](Engine&, StreamId) {
    // DATA of stream 1 with END_STREAM.
    rig->peer.after = std::string("\0\0\5\0\1\0\0\0\1hello", 14);
  });
  rig = &made;
  const auto outcome = made.ask(false, 5s);
  made.time.run(6s);
  EXPECT_EQ(text(*outcome), "corrupt, final");
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
    Rig rig(never);
    rig.peer.before = c.says;
    rig.peer.hangs_up = c.hangs_up;
    const auto outcome = rig.ask();
    rig.time.run(1s);
    EXPECT_EQ(text(*outcome), c.outcome) << c.what;
    EXPECT_EQ(rig.session->state(), Session::State::ending) << c.what;
  }
}

TEST(Http2Peer, ASilentServerIsAskedForASignOfLifeAndGivenUp) {
  Rig rig(open_stream);
  const auto outcome = rig.ask(true);
  ASSERT_EQ(text(*outcome), "200 ");
  const auto stream = (*outcome->answer)->stream;
  const std::size_t heard = rig.peer.heard;
  rig.time.run(30s);
  EXPECT_GT(rig.peer.heard, heard) << "the client has sent a PING";
  EXPECT_EQ(rig.session->state(), Session::State::ready) << "the server has answered the PING";
  rig.peer.deaf = true;
  const MonoTime deaf_since = rig.time.clock().mono();
  const auto over = [&rig] { return rig.session->state() == Session::State::ending; };
  ASSERT_TRUE(rig.time.run_until(60s, over));
  const Duration took = rig.time.clock().mono() - deaf_since;
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
  rig.time.complete(read(stream, pieces));
  EXPECT_EQ(pieces, (std::vector<std::string>{"one", "unavailable"}));
}

TEST(Http2Peer, ATimeoutInSilenceKeepsNewRequestsAwayUntilTheServerSpeaks) {
  Rig rig(open_stream);
  const auto watch = rig.ask(true);
  rig.time.run(1s);
  ASSERT_EQ(rig.session->state(), Session::State::ready);
  rig.peer.deaf = true;
  const auto late = rig.ask(false, 1s);
  rig.time.run(2s);
  EXPECT_EQ(text(*late), "timeout, final");
  EXPECT_EQ(rig.session->state(), Session::State::suspect);
  rig.peer.deaf = false;
  rig.peer.before = std::string("\0\0\x08\x06\0\0\0\0\0", 9) + "12345678";  // PING
  rig.time.complete(rig.peer.speak());
  rig.time.run(1s);
  EXPECT_EQ(rig.session->state(), Session::State::ready);
}

TEST(Http2Peer, ATimeoutWhileTheServerSpeaksIsTheRequestsOwn) {
  Rig rig(open_stream);
  const auto watch = rig.ask(true);
  const auto slow = rig.ask(false, 1s);
  rig.time.run(2s);
  EXPECT_EQ(text(*slow), "timeout, final") << "the response never ended";
  EXPECT_EQ(rig.session->state(), Session::State::ready);
  EXPECT_EQ(rig.session->streams(), 1u);
  EXPECT_EQ(rig.peer.closed, std::vector<Code>{Code::cancel})
      << "the server gets a reset of the stream";
}

TEST(Http2Peer, GoingAwayLetsOldStreamsFinish) {
  Rig rig(never);
  const auto first = rig.ask();
  const auto second = rig.ask();
  rig.peer.after = goaway_frame(1);
  answer_ok(rig.peer.engine, 1);
  rig.time.complete(rig.peer.speak());
  rig.time.run(1s);
  EXPECT_EQ(text(*first), "200 hello");
  EXPECT_EQ(text(*second), "unavailable, unprocessed")
      << "its number is above the last stream of GOAWAY";
  EXPECT_EQ(rig.session->state(), Session::State::ending);
  const auto third = rig.ask();
  EXPECT_EQ(text(*third), "unavailable, unprocessed");
  EXPECT_TRUE(rig.peer.gone) << "a connection without streams is closed";
}

TEST(Http2Peer, AnIdleConnectionIsClosedInTheEnd) {
  Rig rig(answer_ok, {.idle = 20s});
  const auto first = rig.ask();
  rig.time.run(15s);
  const auto second = rig.ask();
  rig.time.run(15s);
  EXPECT_EQ(text(*second), "200 hello");
  EXPECT_FALSE(rig.peer.gone);
  rig.time.run(10s);
  EXPECT_TRUE(rig.peer.gone);
}

TEST(Http2Peer, AReaderThatDoesNotReadHoldsTheServerBack) {
  const std::string flood(1'000'000, 'x');
  const SessionSettings settings{.limits = {.stream_window = 100'000}};
  Rig rig(
      [&flood](Engine& engine, StreamId id) {
        engine.respond(id, ok, false);
        engine.send(id, flood, true);
      },
      settings);
  const auto outcome = rig.ask(true);
  rig.time.run(1s);
  EXPECT_GE(rig.peer.engine.unsent(1), flood.size() - 100'000);
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
  rig.time.complete(read_all((*outcome->answer)->stream, read));
  EXPECT_EQ(read, flood.size());
}

}  // namespace
}  // namespace holdfast::http::h2
