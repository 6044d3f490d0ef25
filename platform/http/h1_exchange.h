// Sends requests over HTTP/1.1, one request at a time on each connection, and keeps connections for
// later requests of the same identity.
//
// A connection is kept only after exactly one complete response with no byte after it, and is
// dropped if the server sends anything while it is idle. Otherwise leftover bytes of one caller's
// response could be taken for the response to another caller.
//
// Threading: the loop's thread only. The streams of responses keep the pool alive.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <list>
#include <memory>
#include <optional>

#include "platform/http/message.h"
#include "platform/http/reader.h"
#include "platform/http/traffic.h"

namespace holdfast::http::h1 {

using ConnectionPtr = std::shared_ptr<net::Connection>;

struct PoolLimits {
  ReaderLimits reader = {};
  std::size_t idle_connections = 4;  // kept for one identity
  std::size_t idle_total = 16;       // kept for all identities
  Duration idle = {};                // how long a connection is kept
};

// The identity that a request is sent as: a digest of its credential and impersonation headers, or
// "" if it has none. Not a secret, but do not log it.
[[nodiscard]] std::string identity_of(const Request& request);

struct Pool {
  std::string host;  // for requests without a Host header
  PoolLimits limits;
  std::shared_ptr<Traffic> traffic;

  // Removes and returns a connection kept for `identity` that is open and has sent nothing; or
  // null.
  [[nodiscard]] ConnectionPtr take(std::string_view identity, MonoTime now);
  // Keeps the connection. At a limit, the oldest one is closed.
  void keep(ConnectionPtr connection, std::string identity, MonoTime now);

  struct Kept {
    ConnectionPtr connection;
    std::string identity;
    MonoTime until;
  };
  std::list<Kept> kept = {};  // oldest first
};

// Sends the request on a kept connection. Returns nothing if there is none, or if it broke before
// the response began and the request may be repeated. Otherwise like ask().
asio::awaitable<std::optional<Result<Response>>> ask_kept(std::shared_ptr<Pool> pool,
                                                          const Request& request, bool streamed,
                                                          MonoTime deadline);

// Sends the request on `connection`, which is kept afterwards if the server agrees. With
// `streamed`, a 2xx is returned as soon as its headers have arrived, and a 101 as a tunnel. Errors:
// those of http::Client.
asio::awaitable<Result<Response>> ask(std::shared_ptr<Pool> pool, ConnectionPtr connection,
                                      const Request& request, bool streamed, MonoTime deadline);

}  // namespace holdfast::http::h1
