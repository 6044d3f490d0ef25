// Names what is wrong with the way to the cloud, for metrics and for people: one word per kind of
// failure, and whether an answer is an API server's at all. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::sync {

enum class LinkFault : std::uint8_t {
  refused,         // nobody listens there
  reset,           // the connection broke off
  timeout,         // a black hole: nothing came in time
  unreachable,     // no route
  dns,             // the server's name is not known
  tls,             // another certificate than ours, or ours is not taken
  credentials,     // none to come with, or the API server does not know them
  not_api_server,  // a captive portal, a load balancer's page
  overloaded,      // 429 or 503
  other,
};
inline constexpr std::size_t link_faults = 10;

// "not_api_server"
[[nodiscard]] std::string_view to_string(LinkFault fault);

// Of a request that got no answer.
[[nodiscard]] LinkFault fault_of(const Error& error);

// The parts of an answer that show who gave it.
struct AnswerHead {
  int status = 200;
  std::string_view content_type = {};
  std::string_view location = {};  // target of a redirect
  bool audited = false;   // has an Audit-Id: kube-apiserver's handlers set it on every answer
  bool verified = false;  // came over TLS from a server whose certificate was verified
};

// Why the answer to a request for `target` (path and query, below the server's prefix) was not
// given by an API server; nothing: it may have been. An Audit-Id proves the API server, and so does
// a verified certificate, except for a gateway's error page: a load balancer may hold the
// certificate. `body` is as much of the body as has arrived; empty for a stream.
[[nodiscard]] std::optional<std::string> why_not_api_answer(std::string_view target,
                                                            const AnswerHead& head,
                                                            std::string_view body);

}  // namespace holdfast::sync
