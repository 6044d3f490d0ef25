#include "agent/edge/caller.h"

#include <algorithm>

#include "platform/text.h"
#include "platform/tls/digest.h"
#include "sync/identity/csr.h"

namespace holdfast::agent {
namespace {

// "kubelet/v1.20.2 (linux/amd64) kubernetes/faecb19" -> "kubelet"
std::string agent_of(std::string_view user_agent) {
  return to_lower(user_agent.substr(0, user_agent.find_first_of("/ ")));
}

std::string owner_by(std::string_view credentials) {
  return "token:" + tls::sha256_hex(credentials).substr(0, 32);
}

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_cached(const std::vector<std::string>& agents, std::string_view agent) {
  const auto same = [agent](const std::string& name) { return equals_ignoring_case(name, agent); };
  return contains(agents, "*") || std::any_of(agents.begin(), agents.end(), same);
}

// Without who he is.
Caller begin(const http::Request& request, const EdgeOptions& options) {
  Caller caller;
  caller.agent = agent_of(request.headers.get("user-agent"));
  caller.cached = is_cached(options.cache_agents, caller.agent);
  return caller;
}

}  // namespace

Result<Caller> identify(const http::Request& request, const EdgeOptions& options) {
  Caller caller = begin(request, options);
  const std::string_view credentials = request.headers.get("authorization");
  if (!credentials.empty()) {
    caller.owner = owner_by(credentials);
    return caller;
  }
  if (!request.peer.uid) return fail(Errc::denied, "only callers on loopback need no credentials");
  const std::string uid = std::to_string(*request.peer.uid);
  if (!contains(options.allowed_uids, uid)) {
    return fail(Errc::denied, "uid " + uid + " is not allowed to use the node's credentials");
  }
  caller.owner = node_owner;
  return caller;
}

Result<Caller> identify_over_tls(const http::Request& request, const EdgeOptions& options) {
  Caller caller = begin(request, options);
  const std::string_view credentials = request.headers.get("authorization");
  if (!credentials.empty()) {
    caller.owner = owner_by(credentials);
    return caller;
  }
  const net::Peer& peer = request.peer;
  if (peer.common_name.empty()) {
    return fail(Errc::denied, "neither a token nor a certificate with a name");
  }
  const bool is_node = peer.common_name == sync::node_user(options.node_name) &&
                       contains(peer.organizations, sync::nodes_group);
  caller.by_certificate = true;
  caller.owner = is_node ? std::string(node_owner) : "certificate:" + peer.common_name;
  return caller;
}

}  // namespace holdfast::agent
