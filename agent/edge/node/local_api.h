// The agent's own proxy as the node components inside this process use it: no socket between.

#pragma once

#include <boost/asio/awaitable.hpp>

#include "agent/client/api_client.h"

namespace holdfast::agent {

class LocalApi {
 public:
  virtual ~LocalApi() = default;
  // As a component of the node; always answered, at worst with 503.
  virtual asio::awaitable<http::Response> ask(ApiRequest request) = 0;
};

// The body of a 2xx answer, or the server's own words as an Error.
[[nodiscard]] Result<std::string> body_of(http::Response response);

}  // namespace holdfast::agent
