// One HTTP/2 connection of a server. Its requests are handled concurrently by one Handler.
//
// Refusals (headers or body over the limit, malformed target) are the same as over HTTP/1.1. A
// caller may have EngineLimits::streams requests open. Requests that it has reset but whose
// handlers have not returned count, too: together they may be twice as many. This, and the limit on
// resets, bounds the cost of rapid resets (CVE-2023-44487).
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>

#include "platform/http/server.h"
#include "platform/loop/tasks.h"

namespace holdfast::http::h2 {

class ServerSession {
 public:
  // Handlers run in `tasks`, which must outlive this object, as must `refusals`. `share` accounts
  // for what the connection uses of the server; it is released when the last handler has returned.
  ServerSession(const asio::any_io_executor& executor, loop::Tasks& tasks,
                std::shared_ptr<net::Connection> connection, const ServerLimits& limits,
                const Service& service, std::shared_ptr<Share> share, Refusals& refusals);
  // Closes the connection. Handlers that are still running finish, but their responses are dropped.
  ~ServerSession();
  ServerSession(const ServerSession&) = delete;
  ServerSession& operator=(const ServerSession&) = delete;

  // Serves until the connection is over.
  asio::awaitable<void> run();

  // Accepts no new requests and ends streams. The connection ends when the responses in progress
  // are sent.
  void stop();

 private:
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace holdfast::http::h2
