// Runs coroutines to completion inside a test, on a new loop in virtual time.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>

#include "test/support/virtual_time.h"

namespace holdfast::test {

namespace asio = boost::asio;

using Body = std::function<asio::awaitable<void>(asio::io_context&)>;

// Everything that `body` spawned must end soon after it: the loop must become empty.
inline void run(VirtualTime& time, const Body& body) {
  time.complete(body(time.context()));
  time.finish();
}

inline void run(const Body& body) {
  VirtualTime time;
  run(time, body);
}

}  // namespace holdfast::test
