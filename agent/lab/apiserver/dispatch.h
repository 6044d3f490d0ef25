// Routes a request to the function that answers it: identity, authorization, parsing, verb.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "agent/lab/apiserver/call.h"

namespace holdfast::agent::lab {

// Answers one request. Errors are answers with a Status, too. `address` is the server's
// "host:port". Only what a kubelet answers takes longer than the call. The arguments outlive it.
boost::asio::awaitable<http::Response> dispatch(Backend& backend, const std::string& address,
                                                const http::Request& request);

// Answers paths that are not resources: discovery, /version, /healthz, /openapi.
[[nodiscard]] http::Response serve_document(const Catalog& catalog,
                                            const sync::objects::RequestInfo& info,
                                            const Query& query, std::string_view accept,
                                            const std::string& address);

}  // namespace holdfast::agent::lab
