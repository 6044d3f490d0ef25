// Identifies the callers of the local proxy, and decides whose credentials and cached rows they
// use.

#pragma once

#include <functional>
#include <string>

#include "agent/edge/options/options.h"
#include "agent/edge/route/caller.h"
#include "platform/http/message.h"

namespace holdfast::agent {

// How a caller on loopback proves that it acts as the node.
struct NodeAuthentication {
  // Checks a peer without credentials; see LocalCallers. Errors: denied.
  std::function<Status(const net::Peer& peer)> of_peer;
  // The secret of --node-token-file; "" for none.
  std::string token = {};
};

// Whether an Authorization header contains the node's token. The time it takes does not depend on
// the token.
[[nodiscard]] bool is_node_token(std::string_view credentials, const std::string& token);

// Identifies a caller of a plain listener. A caller with its own credentials uses them upstream,
// and its reads are cached under them. A caller without credentials uses the node's identity if
// `authentication` shows that it is a process of the node, and nothing indicates that it acts for
// somebody else: a web page (Origin header) or a pod (the kubelet's probes and hooks). A caller on
// this machine that sends the node's token also uses the node's identity. Errors: denied.
[[nodiscard]] Result<Caller> identify(const http::Request& request, const EdgeOptions& options,
                                      const NodeAuthentication& authentication);

// Identifies a caller of a TLS listener, where the peer's uid proves nothing. A caller with a token
// keeps it, and its reads are cached under it. A caller with only a certificate is who its
// certificate names: the node may read the node's rows, others own none. Neither gets the node's
// identity upstream (see Uplink::forward()). Errors: denied.
[[nodiscard]] Result<Caller> identify_over_tls(const http::Request& request,
                                               const EdgeOptions& options);

}  // namespace holdfast::agent
