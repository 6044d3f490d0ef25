// Builds the answers that the agent gives by itself.

#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "platform/http/message.h"
#include "sync/api/status.h"

namespace holdfast::agent {

class Uplink;

// A Kubernetes Status with its HTTP status, and Retry-After when it says when to come back.
[[nodiscard]] http::Response to_response(const sync::ApiStatus& status);

// A JSON document.
[[nodiscard]] http::Response json_response(int status, std::string body);

// 503: nothing that is known here answers this. Never an empty list. While the link is connected it
// may be known soon: Retry-After says so. Otherwise the message says since when and why the cloud
// is away, and there is no Retry-After: with one, kubectl and all of client-go ask again ten times
// before they show the message.
[[nodiscard]] http::Response unavailable(const Uplink& uplink, std::string_view why);
// The same for a request that got no answer of the cloud.
[[nodiscard]] http::Response not_reached(const Uplink& uplink, const Error& error);

// For http::Server: its own refusals in the same form.
[[nodiscard]] http::Response status_problem(int status, std::string_view message);

// Without the headers that belong to one connection and not to the message.
void drop_connection_headers(http::Headers& headers, bool keep_upgrade);

}  // namespace holdfast::agent
