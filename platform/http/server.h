// An HTTP server in front of one Handler: limits, deadlines, streams, tunnels, orderly stop.
//
// Speaks HTTP/1.1, and HTTP/2 to whom a listener's TLS offered it (tls::ServerSettings::protocols).
//
// What the server refuses by itself (malformed 400, over a limit 413 and 431) gets its body from
// `problem`, so that it looks like all other answers. Callers past `connections` are hung up on.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "platform/http/h2/engine.h"
#include "platform/http/message.h"
#include "platform/http/reader.h"
#include "platform/http/tunnel.h"
#include "platform/net/transport.h"

namespace holdfast::http {

struct ServerLimits {
  ReaderLimits reader = {};  // a body of 3 MiB is kube-apiserver's own limit
  std::size_t connections = 1000;
  std::size_t tunnels = 200;  // of these; past it an upgrade is answered 503
  Duration handshake = std::chrono::seconds(10);
  Duration idle = std::chrono::minutes(2);      // between the requests of a connection
  Duration receive = std::chrono::seconds(30);  // one request, from its first byte
  Duration send = std::chrono::seconds(30);     // one answer, or one piece of a stream
  TunnelLimits tunnel = {};
  h2::EngineLimits http2 = {};  // of each connection; its headers are `reader`'s
};

// An answer that the server gives by itself.
using Problem = std::function<Response(int status, std::string_view message)>;
[[nodiscard]] Response plain_problem(int status, std::string_view message);

class Server {
 public:
  Server(asio::any_io_executor executor, ServerLimits limits, Handler handler,
         Problem problem = plain_problem);
  // Cuts off whoever is still connected; what the handler refers to must outlive stop().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Begins to serve; may be called for several listeners.
  void listen(std::unique_ptr<net::Listener> listener);

  // Accepts nobody any more, ends streams, tunnels and idle connections at once, waits for answers
  // under way until `deadline`, then cuts them off.
  asio::awaitable<void> stop(MonoTime deadline);

  [[nodiscard]] std::size_t connections() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::http
