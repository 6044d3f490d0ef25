// Builds the answers that the agent makes itself: Kubernetes Status objects, JSON documents and
// refusals.

#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "platform/http/message.h"
#include "sync/wire/status.h"

namespace holdfast::agent {

// An answer on its way out, with what later steps must know about it.
struct RoutedAnswer {
  http::Response response;
  bool from_cache = false;  // it shows the last known state, not necessarily the current one
  bool filtered = false;    // the filters were already applied to its stream
};

// A Kubernetes Status with its HTTP status code, and a Retry-After header if its details contain
// retryAfterSeconds.
[[nodiscard]] http::Response to_response(const sync::wire::ApiStatus& status);

// An answer with a JSON document as body.
[[nodiscard]] http::Response json_response(int status, std::string body);

// A Status for an error that http::Server answers itself.
[[nodiscard]] http::Response status_problem(int status, std::string_view message);

// The answer with its pieces joined to one body, which can be changed as a whole. Instead of it 507
// if the body would have more than `bytes_max` bytes, and 500 if the pieces cannot be read.
[[nodiscard]] http::Response joined(http::Response response, std::size_t bytes_max);

// Removes the hop-by-hop headers, which belong to one connection. `keep_upgrade` keeps those of a
// protocol upgrade.
void drop_connection_headers(http::Headers& headers, bool keep_upgrade);

}  // namespace holdfast::agent
