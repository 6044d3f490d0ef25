// A TLS server that answers with the identity of its caller, for tests of credentials.

#pragma once

#include <memory>
#include <string>

#include "agent/client/kubeconfig.h"
#include "agent/lab/apiserver/compress.h"
#include "platform/http/server.h"
#include "platform/loop/event.h"
#include "platform/loop/timer.h"
#include "test/support/certificates.h"
#include "test/support/virtual_time.h"

namespace holdfast::test {

using namespace std::chrono_literals;

inline const Authority& authority() {
  static const Authority made("ca");
  return made;
}

// A stream of two pieces; the second follows when the test calls go().
class TwoPieces final : public http::BodyStream {
 public:
  explicit TwoPieces(asio::any_io_executor executor) : go_(std::move(executor)) {}
  asio::awaitable<Result<std::string>> next() override {
    std::string piece;
    if (count_ == 1) co_await go_.wait();
    if (count_ < 2) piece = "piece";
    ++count_;
    co_return piece;
  }
  void cancel() override { go_.notify_all(); }
  void go() { go_.notify_all(); }

 private:
  loop::Event go_;
  int count_ = 0;
};

// Answers with its caller's identity. /stream is a stream, /private requires a token, and /large
// has 200 KiB, compressed for clients that accept gzip.
class CallerEchoServer {
 public:
  explicit CallerEchoServer(asio::io_context& context)
      : stream(std::make_shared<TwoPieces>(context.get_executor())),
        server_(context.get_executor(), {},
                [this](const http::Request& request) { return answer(request); }) {
    const auto tls = tls::Context::for_server(
        {.identity = authority().sign({.common_name = "server", .names = {"IP:127.0.0.1"}}),
         .client_ca_pem = authority().certificate_pem()});
    auto listener =
        net::Listener::open(context.get_executor(), {"127.0.0.1", 0}, tls.value()).value();
    port = listener->port();
    server_.listen(std::move(listener));
  }

  [[nodiscard]] agent::ClusterAccess access(const std::string& name) const {
    agent::ClusterAccess made;
    made.tls = true;
    made.server = {"127.0.0.1", port};
    made.tls_settings.ca_pem = authority().certificate_pem();
    if (!name.empty()) made.tls_settings.identity = authority().sign({.common_name = name});
    return made;
  }

  asio::awaitable<void> stop() { return server_.stop(VirtualClock::begin + 5min); }

  std::shared_ptr<TwoPieces> stream;
  std::uint16_t port = 0;
  int requests = 0;

 private:
  asio::awaitable<http::Response> answer(const http::Request& request) {
    ++requests;
    http::Response response;
    response.headers.set("Date", "Thu, 01 Jan 2026 00:00:00 GMT");
    response.body =
        request.peer.common_name + "/" + std::string(request.headers.get("authorization"));
    if (request.path() == "/private") response.status = 401;
    if (request.path() == "/stream") response.stream = stream;
    if (request.path() == "/large") response.body = std::string(200UL << 10, 'x');
    agent::lab::maybe_compress(request, "list", response);
    co_return response;
  }

  http::Server server_;
};

}  // namespace holdfast::test
