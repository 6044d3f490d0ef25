// Requests over HTTP/1.1 connections of their own: one request at a time on each, and connections
// that are kept for the next one of the same identity.
//
// A connection is kept only after exactly one whole answer with no byte behind it, and thrown away
// when the server says anything while it is idle: what one caller's answer leaves behind must never
// be taken for the answer to another one.
//
// Threading: the loop's thread only. The streams of answers keep the pool.

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
  std::size_t idle_connections = 4;  // of one identity
  std::size_t idle_total = 16;       // of all
  Duration idle = {};
};

// Whose request it is, as a digest of the headers that say so: credentials, and whom they speak
// for. Not a secret, but not to be logged either.
[[nodiscard]] std::string identity_of(const Request& request);

struct Pool {
  std::string host;  // for requests that name none
  PoolLimits limits;
  std::shared_ptr<Traffic> traffic;

  // A connection kept for `identity` that is still open and silent, or null.
  [[nodiscard]] ConnectionPtr take(std::string_view identity);
  // Past a limit the one that was kept first goes.
  void keep(ConnectionPtr connection, std::string identity);

  struct Kept {
    ConnectionPtr connection;
    std::string identity;
    MonoTime until;
  };
  std::list<Kept> kept = {};  // oldest first
};

// Asks on a kept connection; nothing when there is none, or when it turned out to be dead before
// the answer began and the request may be repeated. As ask() otherwise.
asio::awaitable<std::optional<Result<Response>>> ask_kept(std::shared_ptr<Pool> pool,
                                                          const Request& request, bool streamed,
                                                          MonoTime deadline);

// Asks on `connection` and keeps it afterwards, if the server does. With `streamed` a 2xx answer is
// returned with its headers, and a 101 as a tunnel. Errors: as http::Client.
asio::awaitable<Result<Response>> ask(std::shared_ptr<Pool> pool, ConnectionPtr connection,
                                      const Request& request, bool streamed, MonoTime deadline);

}  // namespace holdfast::http::h1
