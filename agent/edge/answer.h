// Builds the answers that the agent gives by itself.

#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "platform/http/message.h"
#include "sync/api/status.h"

namespace holdfast::agent {

// A Kubernetes Status with its HTTP status, and Retry-After when it says when to come back.
[[nodiscard]] http::Response to_response(const sync::ApiStatus& status);

// A JSON document.
[[nodiscard]] http::Response json_response(int status, std::string body);

// 503: the cloud is away and nothing that is known here answers this. Never an empty list.
[[nodiscard]] http::Response unavailable(std::string_view why);

// For http::Server: its own refusals in the same form.
[[nodiscard]] http::Response status_problem(int status, std::string_view message);

// Without the headers that belong to one connection and not to the message.
void drop_connection_headers(http::Headers& headers, bool keep_upgrade);

}  // namespace holdfast::agent
