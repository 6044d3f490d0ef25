// An HTTP server in front of one Handler: limits, deadlines, streams, tunnels, orderly stop.
//
// Speaks HTTP/1.1, and HTTP/2 where the listener's TLS offers it (tls::ServerSettings::protocols).
//
// An unknown caller costs little: connections and memory are divided among the callers (shares.h),
// and a Gate judges each request by its head before any of its body is read.
//
// What the server refuses by itself (malformed 400, over a limit 413, 429 and 431) gets its body
// from `problem`, so that it looks like all other answers. Connections for which there is no room
// are closed at once.
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
  ReaderLimits reader = {};   // a body of 3 MiB is kube-apiserver's own limit
  ShareLimits shares = {};    // connections and memory, and each caller's part of them
  std::size_t tunnels = 200;  // of the connections; past it an upgrade is answered 503
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

// A Gate's decision about a request.
struct Admission {
  std::optional<Response> refusal = {};  // is sent at once; the body is not read
  // The most bytes that the body may have; the reader's limit holds as well.
  std::size_t body_bytes = std::numeric_limits<std::size_t>::max();
  // Whether the request is judged by the owner of its socket, who is then confirmed once the
  // request was read. That costs a system call, and much more where the kernel has no sock_diag.
  // Over HTTP/2 the owner is not confirmed again: a Gate must not judge by it there.
  bool by_owner = true;
};

// Root, or the user that this program runs as.
[[nodiscard]] bool is_root_or_self(const net::Peer& peer);

// Decides about callers. Neither function may wait for anything.
struct Gate {
  // Whether connections of this peer may use what is kept in reserve.
  std::function<bool(const net::Peer& peer)> trusts = is_root_or_self;
  // Judges a request whose body has not been read.
  std::function<Admission(const Request& head)> admit = [](const Request&) { return Admission{}; };
};

// What answers the requests of a server.
struct Service {
  Handler handler;
  Problem problem;
  Gate gate;
};

// How often the server itself has refused a connection or a request since it was made.
struct Refusals {
  std::uint64_t server_full = 0;  // connections past the limit of all callers together
  std::uint64_t caller_full = 0;  // connections past the limit of one caller
  std::uint64_t gate = 0;         // requests that the gate did not admit
  std::uint64_t memory = 0;       // requests for whose bytes there was no room
  std::uint64_t malformed = 0;    // requests that are not HTTP or are over a limit
};

class Server {
 public:
  Server(asio::any_io_executor executor, ServerLimits limits, Handler handler,
         Problem problem = plain_problem, Gate gate = {});
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
  [[nodiscard]] const Refusals& refusals() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::http
