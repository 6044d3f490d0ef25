// An HTTP client for one server: kept connections, deadlines, streams, tunnels.
//
// A TLS server is offered HTTP/2: then all requests share as few connections as they fit on. With
// any other server each request has a connection of its own, which is kept for the next one; so has
// one that asks for an upgrade, and one that the server wants over HTTP/1.1 (RFC 9113, 7:
// HTTP_1_1_REQUIRED), with all of its kind after it.
//
// Threading: the loop's thread only. The client must outlive the calls, not the streams.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "platform/http/h2/session.h"
#include "platform/http/message.h"
#include "platform/http/reader.h"
#include "platform/http/traffic.h"
#include "platform/net/transport.h"

namespace holdfast::http {

struct Endpoint {
  net::HostPort at;
  std::shared_ptr<const tls::Context> tls = {};  // null: plain HTTP
};

struct ClientLimits {
  ReaderLimits reader{.header_bytes = 64 * 1024, .body_bytes = 32 * 1024 * 1024};
  std::size_t idle_connections = 4;          // that speak HTTP/1.1, for each identity
  std::size_t idle_total = 16;               // for all identities
  Duration idle = std::chrono::seconds(60);  // shorter than any server of ours keeps them
  h2::SessionLimits http2 = {};
  std::size_t http1_kinds = 64;  // of requests that are known to be wanted over HTTP/1.1
};

class Client {
 public:
  explicit Client(Endpoint endpoint, const ClientLimits& limits = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Sends `request` and reads the whole answer. Any HTTP status is an answer, not an error.
  // Errors: invalid (it cannot be written: http/grammar.h), timeout at `deadline` (the effect is
  // unknown), unavailable (could not reach, or broken off), denied (TLS), corrupt (not HTTP),
  // exhausted (an answer over the limit, or more streams open than the server and our limits
  // allow).
  asio::awaitable<Result<Response>> send(Request request, MonoTime deadline);

  // The same, but returns once the headers are there: the body of a 2xx comes in Response::stream,
  // a 101 in Response::tunnel. The deadline ends with the headers.
  asio::awaitable<Result<Response>> open(Request request, MonoTime deadline);

  // Lets go of all connections: the way they were made is no longer to be trusted. Idle ones are
  // closed; what is under way goes on, and new requests go elsewhere.
  void forget_connections();

  [[nodiscard]] const Endpoint& endpoint() const;
  [[nodiscard]] Traffic traffic() const;

  struct Core;  // defined in client.cpp

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace holdfast::http
