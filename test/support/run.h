// Runs coroutines to their end inside a test, on an io_context of their own.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;

// Everything that `body` spawned must have ended when it returns; the loop then runs empty.
inline void run(const std::function<asio::awaitable<void>(asio::io_context&)>& body) {
  asio::io_context context(1);
  asio::co_spawn(context, body(context), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  });
  context.run();
}

}  // namespace holdfast::test
