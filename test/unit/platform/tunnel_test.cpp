// Tunnels through the server over TLS, in virtual time: their ends and their limits.

#include "platform/http/tunnel.h"

#include "platform/loop/tasks.h"
#include "test/support/echo.h"
#include "test/support/virtual_time.h"
#include "test/unit/platform/http2_pair.h"

namespace holdfast::http {
namespace {

using test::Echo;
using Bytes = std::string;
using ConnPtr = std::shared_ptr<net::Connection>;

const std::string ask_upgrade =
    "GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: t\r\n\r\n";

// A server with TLS that answers each request with a tunnel to `far`.
struct Gate {
  explicit Gate(ServerLimits limits = {})
      : server(time.executor(), limits, [this](const Request&) { return answer(); }) {
    auto listener =
        net::Listener::open(time.executor(), {"127.0.0.1", 0}, server_tls({"http/1.1"})).value();
    port = listener->port();
    server.listen(std::move(listener));
  }
  ~Gate() {
    time.complete(server.stop(time.clock().mono() + 1s));
    time.settle();
  }
  asio::awaitable<Response> answer() {
    Response upgraded{.status = 101, .tunnel = far};
    upgraded.headers.add("Connection", "Upgrade");
    upgraded.headers.add("Upgrade", "t");
    co_return upgraded;
  }
  // Sends `words` with the request and reads until `until` has arrived.
  ConnPtr open(const Bytes& words, const Bytes& until, Bytes& heard) {
    ConnPtr made;
    time.complete(open_into(words, until, made, heard));
    return made;
  }
  asio::awaitable<void> open_into(Bytes words, Bytes until, ConnPtr& made, Bytes& heard) {
    const auto tls = tls::Context::for_client({.ca_pem = authority().certificate_pem()}).value();
    const net::HostPort at{"127.0.0.1", port};
    auto connected = co_await net::connect(at, tls, MonoTime::max());
    made = *std::move(connected);
    const Bytes all = ask_upgrade + words;
    (void)co_await made->write(all);
    co_await read_until(made, until, heard);
  }
  // Reads until `until` has arrived, or with "" to the end; then appends "<end>" or "<cut>".
  static asio::awaitable<void> read_until(ConnPtr from, Bytes until, Bytes& heard) {
    std::array<char, 4096> buffer{};
    while (until.empty() || heard.find(until) == Bytes::npos) {
      const auto count = co_await from->read_some(buffer);
      heard.append(buffer.data(), count.value_or(0));
      if (count && *count > 0) continue;
      heard += count ? "<end>" : "<cut>";
      co_return;
    }
  }

  test::VirtualTime time;
  std::shared_ptr<Echo> far = std::make_shared<Echo>(time.executor());
  Server server;
  std::uint16_t port = 0;
};

TEST(Tunnel, WhatIsSaidEarlyIsNotLostAndOneSideMayEndFirst) {
  Gate gate;
  gate.far->last_words = "last words";
  Bytes heard;
  const ConnPtr near = gate.open("early ", "early ", heard);
  EXPECT_TRUE(heard.starts_with("HTTP/1.1 101 ")) << heard;
  near->shutdown_write();
  heard.clear();
  gate.time.complete(Gate::read_until(near, "", heard));
  EXPECT_EQ(heard, "last words<end>");
  gate.time.settle();
  EXPECT_TRUE(gate.far->closed());
}

TEST(Tunnel, AnEndThatIsNeverAnsweredIsCutOffInTheEnd) {
  class Mute final : public Echo {
   public:
    using Echo::Echo;
    void shutdown_write() override {}
    void expires_at(MonoTime deadline) override { until = deadline; }
    MonoTime until = MonoTime::max();
  };
  Gate gate;
  const auto mute = std::make_shared<Mute>(gate.time.executor());
  gate.far = mute;
  Bytes heard;
  const ConnPtr near = gate.open("x", "x", heard);
  gate.time.run(1h);
  EXPECT_EQ(mute->until, MonoTime::max()) << "an open tunnel has no time limit";
  near->shutdown_write();
  gate.time.settle();
  EXPECT_EQ(mute->until, gate.time.clock().mono() + TunnelLimits{}.half_closed);
}

TEST(Tunnel, TheServerHasSoManyAndEndsThemWhenItStops) {
  Gate gate({.tunnels = 1});
  Bytes heard;
  const ConnPtr first = gate.open("one", "one", heard);
  const std::shared_ptr<Echo> mine = gate.far;
  gate.far = std::make_shared<Echo>(gate.time.executor());
  Bytes refused;
  const ConnPtr second = gate.open("", "\r\n\r\n", refused);
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 503 ")) << refused;
  EXPECT_TRUE(gate.far->closed());
  EXPECT_FALSE(mine->closed());
  const MonoTime began = gate.time.clock().mono();
  second->close();
  gate.time.complete(gate.server.stop(began + 1h));
  EXPECT_LT(gate.time.clock().mono() - began, 1s) << "stopping does not wait for tunnels";
  EXPECT_TRUE(mine->closed());
}

asio::awaitable<void> write_much(ConnPtr to, std::size_t pieces, std::size_t& written) {
  const Bytes piece(64UL * 1024, 'x');
  for (std::size_t i = 0; i < pieces; ++i) {
    const Status sent = co_await to->write(piece);
    if (!sent) co_return;
    written += piece.size();
  }
}

TEST(Tunnel, ASlowReaderHoldsTheOtherSideBack) {
  // The far end takes no bytes until the test releases it.
  class Slow final : public Echo {
   public:
    explicit Slow(asio::any_io_executor executor) : Echo(executor), go_on(executor) {}
    asio::awaitable<Status> write(std::string_view bytes) override {
      if (!released) co_await go_on.wait();
      taken += bytes.size();
      Status done;
      co_return done;
    }
    loop::Event go_on;
    bool released = false;
    std::size_t taken = 0;
  };
  Gate gate;
  const auto slow = std::make_shared<Slow>(gate.time.executor());
  gate.far = slow;
  Bytes heard;
  const ConnPtr near = gate.open("", "\r\n\r\n", heard);
  constexpr std::size_t pieces = 1024;  // 64 MiB
  std::size_t written = 0;
  loop::Tasks tasks(gate.time.executor());
  tasks.spawn("write", write_much(near, pieces, written));
  gate.time.run(1min);
  EXPECT_LT(written, pieces * 64UL * 1024 / 2) << "only the sockets' buffers are filled";
  EXPECT_EQ(slow->taken, 0u);
  slow->released = true;
  slow->go_on.notify_all();
  gate.time.run(1min);
  EXPECT_EQ(written, pieces * 64UL * 1024);
  EXPECT_EQ(slow->taken, written);
  near->close();
  gate.time.complete(tasks.join());
}

}  // namespace
}  // namespace holdfast::http
