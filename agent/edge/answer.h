// Builds the answers that the agent makes itself: Kubernetes Status objects, JSON documents and
// refusals.

#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "platform/http/message.h"
#include "sync/api/status.h"

namespace holdfast::agent {

class Uplink;

// A Kubernetes Status with its HTTP status code, and a Retry-After header if its details contain
// retryAfterSeconds.
[[nodiscard]] http::Response to_response(const sync::ApiStatus& status);

// An answer with a JSON document as body.
[[nodiscard]] http::Response json_response(int status, std::string body);

// 503: the cache cannot answer this. Never an empty list instead. While the link is connected it
// has Retry-After, because the cache may be complete soon. Otherwise the message says since when
// and why the cloud is unreachable, and there is no Retry-After: with one, kubectl and every other
// client-go program would retry ten times before it shows the message.
[[nodiscard]] http::Response unavailable(const Uplink& uplink, std::string_view why);
// The answer to a request that the API server did not answer: 429 if an own limit was reached, 504
// after a timeout, otherwise 503.
[[nodiscard]] http::Response not_reached(const Uplink& uplink, const Error& error);

// A Status for an error that http::Server answers itself.
[[nodiscard]] http::Response status_problem(int status, std::string_view message);

// Removes the hop-by-hop headers, which belong to one connection. `keep_upgrade` keeps those of a
// protocol upgrade.
void drop_connection_headers(http::Headers& headers, bool keep_upgrade);

}  // namespace holdfast::agent
