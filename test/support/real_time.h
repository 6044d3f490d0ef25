// Runs coroutines to completion inside a test of system/, on a new loop in real time with the
// kernel's network.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <functional>
#include <utility>

#include "test/support/system_loop.h"

namespace holdfast::test {

namespace asio = boost::asio;

// Everything that `body` spawned must have ended when it returns, because this waits until the
// loop is empty.
inline void run_in_real_time(const std::function<asio::awaitable<void>(asio::io_context&)>& body) {
  SystemLoop context;
  asio::co_spawn(context, body(context), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  });
  context.run();
}

}  // namespace holdfast::test
