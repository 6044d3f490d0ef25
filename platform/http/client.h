// An HTTP client for one server: persistent connections, deadlines, streams and tunnels.
//
// A TLS server is offered HTTP/2; if it accepts, all requests share as few connections as possible.
// Otherwise each request uses a connection of its own, which is kept for later requests. A request
// that asks for an upgrade also uses its own HTTP/1.1 connection, and so does every request of a
// kind that the server has refused over HTTP/2 (RFC 9113, 7: HTTP_1_1_REQUIRED).
//
// With a proxy, every connection is a tunnel through it, also to plain http:// servers. If it opens
// none, no request is sent; what the proxy answers is never returned as a response.
//
// Threading: the loop's thread only. The client must outlive its calls, but not the returned
// streams.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "platform/http/h2/session.h"
#include "platform/http/message.h"
#include "platform/http/reader.h"
#include "platform/http/traffic.h"
#include "platform/net/route.h"
#include "platform/net/transport.h"

namespace holdfast::http {

struct Endpoint {
  net::HostPort at;
  std::shared_ptr<const tls::Context> tls = {};  // null: plain HTTP
  std::shared_ptr<const net::Proxy> proxy = {};  // null: a direct connection
};

struct ClientLimits {
  ReaderLimits reader{.header_bytes = 64 * 1024, .body_bytes = 32 * 1024 * 1024};
  std::size_t idle_connections = 4;          // HTTP/1.1 connections kept for each identity
  std::size_t idle_total = 16;               // and for all identities together
  Duration idle = std::chrono::seconds(60);  // shorter than the idle limit of our servers
  h2::SessionLimits http2 = {};
  std::size_t http1_kinds = 64;  // kinds of requests remembered as HTTP/1.1 only
};

class Client {
 public:
  explicit Client(Endpoint endpoint, const ClientLimits& limits = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Sends `request` and reads the whole response. Every HTTP status is a response, not an error.
  // A request that is given up, at its deadline or by cancelling this, may have been received. But
  // if a broken link held it up, it does not arrive when the link returns.
  // Errors: invalid (the request cannot be written: http/grammar.h), timeout at `deadline` (whether
  // the request took effect is unknown), unavailable (not reachable, or the connection broke),
  // denied (TLS), corrupt (not HTTP), exhausted (a response over the limit, or no free stream
  // before the deadline).
  asio::awaitable<Result<Response>> send(Request request, MonoTime deadline);

  // Like send(), but returns as soon as the headers have arrived. The body of a 2xx is read from
  // Response::stream; a 101 has Response::tunnel. The deadline applies to the headers only.
  asio::awaitable<Result<Response>> open(Request request, MonoTime deadline);

  // Stops using all current connections, for example because the network path or the credentials
  // have changed. Idle ones are closed; requests in progress continue; new requests use new
  // connections.
  void forget_connections();

  [[nodiscard]] const Endpoint& endpoint() const;
  [[nodiscard]] Traffic traffic() const;

  struct Core;  // defined in client.cpp

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace holdfast::http
