// From a request to the verb that answers it: identity, routes, discovery, health.

#pragma once

#include <string>
#include <string_view>

#include "agent/lab/apiserver/call.h"

namespace holdfast::agent::lab {

// Answers one request; what went wrong is an answer, too.
[[nodiscard]] http::Response dispatch(Backend& backend, const std::string& address,
                                      const http::Request& request);

// Paths that are no resources: discovery, /version, /healthz, /openapi.
// `address` is where clients reach us.
[[nodiscard]] http::Response serve_document(const sync::RequestInfo& info, const http::Query& query,
                                            std::string_view accept, const std::string& address);

}  // namespace holdfast::agent::lab
