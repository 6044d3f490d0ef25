// Requests over HTTP/1.1 connections of their own: one request at a time on each, and connections
// that are kept for the next one.
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
  std::size_t idle_connections = 4;
  Duration idle = {};
};

struct Pool {
  std::string host;  // for requests that name none
  PoolLimits limits;
  std::shared_ptr<Traffic> traffic;

  // A kept connection that still looks alive, or null.
  [[nodiscard]] ConnectionPtr take();
  void keep(ConnectionPtr connection);

  struct Kept {
    ConnectionPtr connection;
    MonoTime until;
  };
  std::list<Kept> kept = {};
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
