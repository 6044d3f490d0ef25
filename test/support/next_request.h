// Reads requests in tests whose servers send scripted bytes as answers.

#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <optional>

#include "platform/http/reader.h"
#include "platform/net/connection.h"

namespace holdfast::test {

// The next complete request, or nullopt at the end of the connection. `reader` keeps any bytes
// after it.
inline boost::asio::awaitable<std::optional<http::Request>> next_request(
    net::Connection& connection, http::RequestReader& reader) {
  std::array<char, 4096> buffer{};
  while (!reader.done()) {
    const auto count = co_await connection.read_some(buffer);
    if (!count || *count == 0) co_return std::nullopt;
    (void)reader.put(std::string_view(buffer.data(), *count));
  }
  bool keep_alive = false;
  http::Request request = reader.take(keep_alive);
  co_return request;
}

}  // namespace holdfast::test
