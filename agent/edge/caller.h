// Who asks at the local proxy, and what follows from it.

#pragma once

#include <string>

#include "agent/edge/options.h"
#include "platform/http/message.h"

namespace holdfast::agent {

struct Caller {
  std::string owner;    // whose rows he may read: "node", or a digest of his own credentials
  std::string agent;    // first word of the user agent: "kubelet"
  bool cached = false;  // his reads are worth caching
};

inline constexpr std::string_view node_owner = "node";

// A caller with credentials of his own keeps them upstream and is cached under them. One without
// gets the node's identity, if he is on loopback and his socket belongs to an allowed uid.
// Errors: denied.
[[nodiscard]] Result<Caller> identify(const http::Request& request, const EdgeOptions& options);

}  // namespace holdfast::agent
