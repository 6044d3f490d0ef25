// Parses the requests of the kubelet's API, and the upgrade to SPDY/3.1. Pure.

#pragma once

#include <string>
#include <string_view>

#include "agent/node/kubelet/container_choice.h"
#include "platform/http/message.h"
#include "platform/query.h"

namespace holdfast::agent::node {

// A request to a container or pod: "/containerLogs/NAMESPACE/POD/CONTAINER".
struct KubeletCall {
  std::string verb;  // "containerLogs", "exec" or "portForward"
  std::string name_space = {};
  std::string pod = {};
  std::string container = {};  // "" for portForward
  Query query = {};

  bool operator==(const KubeletCall&) const = default;
};

// Refusals: 404 (another path), 400 (a broken escape).
[[nodiscard]] KubeletAnswer<KubeletCall> parse_kubelet_call(const http::Request& request);

// Whether the request asks for SPDY/3.1 with this protocol in it. Refusals: 400 (for another
// upgrade or none), 403 (for another protocol).
[[nodiscard]] KubeletAnswer<bool> check_spdy(const http::Request& request,
                                             std::string_view protocol);
// The headers of the response that accepts it.
[[nodiscard]] http::Headers spdy_headers(std::string_view protocol);

}  // namespace holdfast::agent::node
