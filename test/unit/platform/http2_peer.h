// A server of HTTP/2 that does what a test tells it, and a client's connection to it, in virtual
// time.

#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/http/h2/engine.h"
#include "platform/http/h2/session.h"
#include "platform/loop/tasks.h"
#include "platform/net/transport.h"
#include "test/support/virtual_time.h"

namespace holdfast::http::h2::peer_test {

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
      if (stalled) continue;
      heard += *count;
      (void)engine.receive(std::string_view(buffer.data(), *count));
      co_await speak();
    }
    gone = true;
  }

  asio::awaitable<void> speak() {
    std::string bytes = std::exchange(before, {});
    for (std::string more = engine.take_output(); !more.empty(); more = engine.take_output()) {
      bytes += more;
    }
    bytes += std::exchange(after, {});
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
  bool stalled = false;
  bool hangs_up = false;
  bool gone = false;
  std::size_t heard = 0;
  std::vector<Code> closed;
};

struct Outcome {
  std::optional<Result<Response>> answer;
  RequestFailure failure = RequestFailure::final;
};

inline asio::awaitable<void> ask_into(std::shared_ptr<Session> session,
                                      std::shared_ptr<Outcome> outcome, bool streamed,
                                      Duration limit) {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  const Request request{.target = "/"};
  outcome->answer =
      co_await Session::ask(session, request, streamed, clock.mono() + limit, outcome->failure);
}

inline asio::awaitable<void> connect_into(net::HostPort at, SessionSettings settings,
                                          std::shared_ptr<Session>& into) {
  const auto executor = co_await asio::this_coro::executor;
  auto made = co_await net::connect(at, nullptr, MonoTime::max());
  into = std::make_shared<Session>(executor, *std::move(made), std::move(settings));
}

struct Http2PeerFixture {
  explicit Http2PeerFixture(Script script, SessionSettings settings = {}, EngineLimits limits = {})
      : peer(time.executor(), std::move(script), limits), tasks(time.executor()) {
    settings.authority = "lab";
    settings.traffic = std::make_shared<Traffic>();
    tasks.spawn("peer", peer.run());
    time.complete(connect_into(peer.at(), std::move(settings), session));
  }
  ~Http2PeerFixture() {
    session.reset();
    tasks.cancel();
    time.settle();
  }
  Http2PeerFixture(const Http2PeerFixture&) = delete;
  Http2PeerFixture& operator=(const Http2PeerFixture&) = delete;

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

}  // namespace holdfast::http::h2::peer_test
