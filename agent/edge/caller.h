// Who asks at the local proxy, and what follows from it.

#pragma once

#include <functional>
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

// What makes a caller on loopback act as the node.
struct NodeProof {
  // Whether a peer without credentials does; see LocalCallers. Errors: denied.
  std::function<Status(const net::Peer& peer)> of_peer;
  // The secret of --node-token-file; "" for none.
  std::string token = {};
};

// Whether an Authorization header brings the node's token, in constant time.
[[nodiscard]] bool is_node_token(std::string_view credentials, const std::string& token);

// A caller with credentials of his own keeps them upstream and is cached under them. One without
// gets the node's identity if `proof` shows him to be a process of the node and nothing suggests
// that he asks on behalf of somebody else: a web page (Origin) or a pod (the kubelet's probes). So
// does one on loopback who brings the node's token.
// Errors: denied.
[[nodiscard]] Result<Caller> identify(const http::Request& request, const EdgeOptions& options,
                                      const NodeProof& proof);

// Whether a plain listener was addressed by a name of its own: the address that the caller
// connected to, "localhost" on loopback, or one of `names`; with its port, if any is given. A web
// page that rebinds its own name to this machine is told apart by this. Errors: invalid.
[[nodiscard]] Status check_host(const http::Request& request,
                                const std::vector<std::string>& names);

// The same for one who came over TLS, where a uid is worth nothing. One with a token keeps it and
// is cached under it. One with a certificate alone is who it says: the node itself owns the node's
// rows, all others own none, and nobody gets the node's identity upstream (see Uplink::forward()).
// Errors: denied.
[[nodiscard]] Result<Caller> identify_over_tls(const http::Request& request,
                                               const EdgeOptions& options);

}  // namespace holdfast::agent
