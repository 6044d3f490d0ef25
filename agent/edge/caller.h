// Who asks at the local proxy, and what follows from it.

#pragma once

#include <string>

#include "agent/edge/options.h"
#include "platform/http/message.h"

namespace holdfast::agent {

struct Caller {
  std::string owner;    // whose rows he may read: "node", or a digest of his own credentials
  std::string agent;    // first word of the user agent, in lower case: "kubelet"
  bool cached = false;  // his reads are worth caching
  bool by_certificate = false;  // and by nothing else: nothing is passed on for him
};

inline constexpr std::string_view node_owner = "node";

// A caller with credentials of his own keeps them upstream and is cached under them. One without
// gets the node's identity, if he is on loopback and his socket belongs to an allowed uid.
// Errors: denied.
[[nodiscard]] Result<Caller> identify(const http::Request& request, const EdgeOptions& options);

// The same for one who came over TLS, where a uid is worth nothing. One with a token keeps it and
// is cached under it. One with a certificate alone is who it says: the node itself owns the node's
// rows, all others own none, and nobody gets the node's identity upstream (see Uplink::forward()).
// Errors: denied.
[[nodiscard]] Result<Caller> identify_over_tls(const http::Request& request,
                                               const EdgeOptions& options);

}  // namespace holdfast::agent
