// One HTTP/2 connection of a server: its requests are answered side by side by one Handler.
//
// Refusals (headers or a body over the limit, no path) look as they do over HTTP/1.1. A caller may
// have EngineLimits::streams requests open, and twice as many together with those that it has reset
// and whose handlers have not returned yet. This and the limit on resets bound the cost of rapid
// resets (CVE-2023-44487).
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>

#include "platform/http/server.h"
#include "platform/loop/tasks.h"

namespace holdfast::http::h2 {

class Serving {
 public:
  // Handlers run in `tasks`, which outlives this, as `refusals` does. `share` is what the
  // connection takes of the server; it is given back when the last handler has returned.
  Serving(const asio::any_io_executor& executor, loop::Tasks& tasks,
          std::shared_ptr<net::Connection> connection, const ServerLimits& limits,
          const Service& service, std::shared_ptr<Share> share, Refusals& refusals);
  // Cuts the connection; handlers that are still at it find nobody to answer.
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  // Serves until the connection is over.
  asio::awaitable<void> run();

  // Takes no new requests and ends streams; the connection is over once the answers under way are
  // sent.
  void stop();

 private:
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace holdfast::http::h2
