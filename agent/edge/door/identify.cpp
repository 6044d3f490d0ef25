#include "agent/edge/door/identify.h"

#include <algorithm>

#include "agent/edge/forward/owners.h"
#include "platform/text.h"
#include "platform/tls/digest.h"
#include "sync/identity/csr.h"
#include "sync/identity/local_process.h"

namespace holdfast::agent {
namespace {

// "kubelet/v1.20.2 (linux/amd64) kubernetes/faecb19" -> "kubelet"
std::string agent_of(std::string_view user_agent) {
  return to_lower(user_agent.substr(0, user_agent.find_first_of("/ ")));
}

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_cached(const std::vector<std::string>& agents, std::string_view agent) {
  const auto same = [agent](const std::string& name) { return equals_ignoring_case(name, agent); };
  return contains(agents, "*") || std::any_of(agents.begin(), agents.end(), same);
}

// A caller without its identity.
Caller begin(const http::Request& request, const EdgeOptions& options) {
  Caller caller;
  caller.agent = agent_of(request.headers.get("user-agent"));
  caller.cached = is_cached(options.cache_agents, caller.agent);
  return caller;
}

}  // namespace

// Compares digests, so that the time it takes reveals nothing about the token.
bool is_node_token(std::string_view credentials, const std::string& token) {
  return !token.empty() && tls::sha256_hex(credentials) == tls::sha256_hex("Bearer " + token);
}

Result<Caller> identify(const http::Request& request, const EdgeOptions& options,
                        const NodeAuthentication& authentication) {
  Caller caller = begin(request, options);
  const std::string_view credentials = request.headers.get("authorization");
  if (is_node_token(credentials, authentication.token)) {
    // The token alone proves the caller, also behind a relay, but only on this machine.
    if (!request.peer.owner)
      return fail(Errc::denied, "the node's token is only accepted from this machine");
    caller.owner = node_owner;
    return caller;
  }
  if (!credentials.empty()) {
    caller.owner = owner_of(credentials);
    return caller;
  }
  if (request.headers.has("origin")) {
    return fail(Errc::denied, "a request of a web page (Origin header) cannot act as the node");
  }
  if (sync::identity::is_kubelet_on_behalf_of_pod(request.headers.get("user-agent"))) {
    return fail(Errc::denied, "a probe or hook of a pod cannot act as the node");
  }
  if (auto node = authentication.of_peer(request.peer); !node) return fail(node.error());
  caller.owner = node_owner;
  return caller;
}

Result<Caller> identify_over_tls(const http::Request& request, const EdgeOptions& options) {
  Caller caller = begin(request, options);
  const std::string_view credentials = request.headers.get("authorization");
  if (!credentials.empty()) {
    caller.owner = owner_of(credentials);
    return caller;
  }
  const net::Peer& peer = request.peer;
  if (peer.common_name.empty()) {
    return fail(Errc::denied,
                "the caller has neither a token nor a certificate with a common name");
  }
  const bool is_node = peer.common_name == sync::identity::node_user(options.node_name) &&
                       contains(peer.organizations, sync::identity::nodes_group);
  caller.by_certificate = true;
  caller.owner = is_node ? std::string(node_owner) : "certificate:" + peer.common_name;
  return caller;
}

}  // namespace holdfast::agent
