// Names what is wrong with the connection to the cloud, in one word for metrics and log messages,
// and detects answers that did not come from an API server (a captive portal, for example). Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::sync::autonomy {

enum class LinkFault : std::uint8_t {
  refused,         // connection refused: no server listens at that address
  reset,           // the peer closed the connection
  timeout,         // no answer before the deadline, as in a black hole
  unreachable,     // no route to the server
  dns,             // the server's name could not be resolved
  tls,             // the server's certificate is not trusted, or it rejects ours
  credentials,     // the agent has none, or the API server does not accept them
  not_api_server,  // for example a captive portal or a load balancer's page
  overloaded,      // 429 or 503
  disk,  // the agent cannot record what it sends: its own disk, although the cloud answers
  other,
};
inline constexpr std::size_t link_faults = 11;

// The name for metrics and logs: "not_api_server".
[[nodiscard]] std::string_view to_string(LinkFault fault);

// The fault of a request that failed without an answer, or of the database behind it.
[[nodiscard]] LinkFault fault_of(const Error& error);

// The parts of an answer that show which server sent it.
struct AnswerHead {
  int status = 200;
  std::string_view content_type = {};
  std::string_view location = {};  // the Location header of a redirect
  bool audited = false;            // has an Audit-Id header: kube-apiserver sets it on every answer
  bool verified = false;           // received over TLS from a server whose certificate was verified
};

// Why the answer to a request for `target` (path and query, below the server's prefix) did not come
// from an API server; std::nullopt if it may have come from one. An Audit-Id proves an API server.
// A verified certificate does too, unless the answer is a gateway's error page: a load balancer may
// hold the certificate. `body` is the part of the body that has arrived; empty for a stream.
[[nodiscard]] std::optional<std::string> why_not_api_answer(std::string_view target,
                                                            const AnswerHead& head,
                                                            std::string_view body);

// Whether a request for `target` asks for an object, a list or a description of the API, which no
// API server answers with a web page. It may do that below other paths, such as /logs/, and passes
// on pages of services.
[[nodiscard]] bool is_for_document(std::string_view target);

}  // namespace holdfast::sync::autonomy
