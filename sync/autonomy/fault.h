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

// What an answer says of who gave it.
struct AnswerHead {
  int status = 200;
  std::string_view content_type = {};
  std::string_view location = {};  // where a redirect points to
  bool audited = false;            // has an Audit-Id, as all of kube-apiserver's answers do
};

// Why this is no API server's answer to a request for `target` (path and query, below the server's
// prefix); nothing: it may be one. `body` is as much of it as is there: none of a stream.
[[nodiscard]] std::optional<std::string> why_not_api_answer(std::string_view target,
                                                            const AnswerHead& head,
                                                            std::string_view body);

}  // namespace holdfast::sync
