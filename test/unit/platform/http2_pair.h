// A server with TLS and HTTP/2 on a free port, its client, and handlers for the tests' requests.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/http/client.h"
#include "platform/http/server.h"
#include "platform/loop/event.h"
#include "platform/loop/timer.h"
#include "test/support/certificates.h"
#include "test/support/virtual_time.h"

namespace holdfast::http {

using namespace std::chrono_literals;

inline MonoTime now(asio::io_context& context) {
  return loop::clock_of(context.get_executor()).mono();
}
constexpr MonoTime soon() { return test::VirtualClock::begin + 10s; }

inline const test::Authority& authority() {
  static const test::Authority made("our ca");
  return made;
}

inline std::shared_ptr<const tls::Context> server_tls(std::vector<std::string> protocols) {
  const test::Subject subject{.common_name = "server", .names = {"IP:127.0.0.1"}};
  return tls::Context::for_server(
             {.identity = authority().sign(subject), .protocols = std::move(protocols)})
      .value();
}

// A watch without events or, with `flood`, with an endless number of them.
class Watch final : public BodyStream {
 public:
  Watch(asio::any_io_executor executor, bool flood)
      : flood_(flood), changed_(std::move(executor)) {}

  asio::awaitable<Result<std::string>> next() override {
    std::string piece = flood_ ? std::string(10'000, 'x') : "event\n";
    if (flood_ || std::exchange(first_, false)) {
      ++pieces;
      co_return piece;
    }
    while (!cancelled) co_await changed_.wait();
    co_return fail(Errc::cancelled, "cancelled");
  }
  void cancel() override {
    cancelled = true;
    changed_.notify_all();
  }

  bool cancelled = false;
  int pieces = 0;

 private:
  bool flood_;
  bool first_ = true;
  loop::Event changed_;
};

struct Pair {
  explicit Pair(asio::io_context& context, ServerLimits limits = {},
                std::vector<std::string> protocols = {"h2", "http/1.1"})
      : executor(context.get_executor()),
        server(executor, limits, [this](const Request& request) { return answer(request); }) {
    auto listener =
        net::Listener::open(executor, {"127.0.0.1", 0}, server_tls(std::move(protocols))).value();
    port = listener->port();
    server.listen(std::move(listener));
  }

  // /watch and /flood are streams, /slow waits for `go_on`, /none has no body; all others echo.
  asio::awaitable<Response> answer(const Request& request) {
    Response response;
    on_request();
    if (request.path() == "/watch" || request.path() == "/flood") {
      watches.push_back(std::make_shared<Watch>(executor, request.path() == "/flood"));
      response.stream = watches.back();
      co_return response;
    }
    if (request.path() == "/slow") co_await go_on.wait();
    if (request.path() == "/none") response.status = 204;
    response.headers.set("X-Method", std::string(to_string(request.method)));
    response.headers.set("X-Host", std::string(request.headers.get("host")));
    if (request.path() != "/none") response.body = request.target + "|" + request.body;
    co_return response;
  }

  [[nodiscard]] Endpoint endpoint() const {
    return {.at = {"127.0.0.1", port},
            .tls = tls::Context::for_client({.ca_pem = authority().certificate_pem()}).value()};
  }

  asio::any_io_executor executor;
  Server server;
  std::uint16_t port = 0;
  loop::Event go_on{executor};
  std::function<void()> on_request = [] {};  // called when a request is begun
  std::vector<std::shared_ptr<Watch>> watches;
};

inline asio::awaitable<void> eventually(const std::function<bool()>& done) {
  for (int turn = 0; turn < 1000 && !done(); ++turn) co_await loop::wait_for(1ms);
  EXPECT_TRUE(done());
}

}  // namespace holdfast::http
