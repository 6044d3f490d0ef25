// An HTTP server that calls one Handler: limits, deadlines, streams, tunnels and graceful stop.
//
// It speaks HTTP/1.1, and HTTP/2 if the listener's TLS offers it (tls::ServerSettings::protocols).
//
// An unauthenticated caller can use few resources: connections and memory are divided among the
// callers (shares.h), and a Gate decides on each request by its head before its body is read.
//
// Responses that the server generates itself (malformed 400, over a limit 413, 429 and 431, too
// much memory or too many tunnels 503) are built by `problem`, so that they look like all others. A
// connection for which there is no room is closed at once.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "platform/http/h2/engine.h"
#include "platform/http/message.h"
#include "platform/http/reader.h"
#include "platform/http/shares.h"
#include "platform/http/tunnel.h"
#include "platform/net/transport.h"

namespace holdfast::http {

struct ServerLimits {
  ReaderLimits reader = {};   // 3 MiB for a body is kube-apiserver's own limit
  ShareLimits shares = {};    // connections and memory, in total and per caller
  std::size_t tunnels = 200;  // at most so many connections; further upgrades get 503
  Duration handshake = std::chrono::seconds(10);
  Duration idle = std::chrono::minutes(2);      // between the requests of a connection
  Duration receive = std::chrono::seconds(30);  // one request, from its first byte
  Duration send = std::chrono::seconds(30);     // one response, or one piece of a stream
  TunnelLimits tunnel = {};
  h2::EngineLimits http2 = {};  // of each connection; header_bytes is taken from `reader`
};

// Builds a response that the server generates itself.
using Problem = std::function<Response(int status, std::string_view message)>;
[[nodiscard]] Response plain_problem(int status, std::string_view message);

// A Gate's decision about a request.
struct Admission {
  std::optional<Response> refusal = {};  // if set, it is sent at once and the body is not read
  // The largest allowed body in bytes; the reader's limit applies as well.
  std::size_t body_bytes = std::numeric_limits<std::size_t>::max();
  // Whether the decision depends on the user that owns the peer's socket. The owner is then looked
  // up again after the request was read, which costs a system call, and much more if the kernel has
  // no sock_diag. Over HTTP/2 the owner is not looked up again: a Gate must not depend on it there.
  bool by_owner = true;
};

// Whether the peer's socket belongs to root or to the user that this program runs as.
[[nodiscard]] bool is_root_or_self(const net::Peer& peer);

// Decides which callers and requests are admitted. Neither function may block.
struct Gate {
  // Whether connections of this peer may use the reserve. Called when a connection is accepted, and
  // again after a TLS handshake in which the peer showed a valid certificate.
  std::function<bool(const net::Peer& peer)> trusts = is_root_or_self;
  // Decides on a request whose body has not been read.
  std::function<Admission(const Request& head)> admit = [](const Request&) { return Admission{}; };
};

// The functions that produce a server's responses.
struct Service {
  Handler handler;
  Problem problem;
  Gate gate;
};

// How often the server itself has refused a connection or a request since it was created.
struct Refusals {
  std::uint64_t server_full = 0;  // connections over the limit of all callers together
  std::uint64_t caller_full = 0;  // connections over the limit of one caller
  std::uint64_t gate = 0;         // requests that the gate refused
  std::uint64_t memory = 0;       // requests or responses over the memory limit
  std::uint64_t malformed = 0;    // requests that are not HTTP or are over a limit
};

class Server {
 public:
  Server(asio::any_io_executor executor, ServerLimits limits, Handler handler,
         Problem problem = plain_problem, Gate gate = {});
  // Closes all connections. What the handler refers to must outlive stop().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Starts to serve; may be called for several listeners.
  void listen(std::unique_ptr<net::Listener> listener);

  // Stops accepting connections, closes streams, tunnels and idle connections at once, waits for
  // responses in progress until `deadline`, and then closes the rest.
  asio::awaitable<void> stop(MonoTime deadline);

  [[nodiscard]] std::size_t connections() const;
  [[nodiscard]] const Refusals& refusals() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::http
