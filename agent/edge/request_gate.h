// Judges callers and requests before they cost anything: who asks, under which name the listener
// was addressed, and how large a body may be. Every listener of the agent has a gate from here.
//
// Refusals are counted in metrics by listener and reason, and logged at a limited rate.
//
// Threading: the loop's thread only.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/edge/caller.h"
#include "agent/edge/local_callers.h"
#include "agent/edge/options.h"
#include "platform/http/server.h"
#include "platform/metrics.h"

namespace holdfast::agent {

enum class Listener : std::uint8_t { proxy, tls, admin, admin_tls };

class RequestGate {
 public:
  // `node_token` is the secret of --node-token-file or "". The others outlive this and the servers
  // that use its gates.
  RequestGate(const EdgeOptions& options, LocalCallers& local, std::string node_token,
              Metrics& metrics);

  [[nodiscard]] http::Gate gate_of(Listener listener);

  // Who asks at a listener of the proxy. Asked again once a request was read, when its peer has
  // been confirmed. Errors: denied.
  [[nodiscard]] Result<Caller> identify_at(Listener listener, const http::Request& request);
  // Whether the request's credentials are the node's token, which is not for the API server.
  [[nodiscard]] bool brings_node_token(const http::Request& request) const {
    return is_node_token(request.headers.get("authorization"), proof_.token);
  }
  // The refusal for a caller of an admin listener who may not see the page; nothing if he may.
  // Liveness, readiness and metrics are for everybody; upgrades over the air also for callers with
  // a token, which the API server judges; all else is for the node itself and for cluster
  // administrators.
  [[nodiscard]] std::optional<http::Response> refuse_admin(Listener listener,
                                                           const http::Request& request);

 private:
  [[nodiscard]] http::Admission admit(Listener listener, const http::Request& head);
  [[nodiscard]] http::Response refuse(Listener listener, const http::Request& request, int status,
                                      std::string_view reason, const std::string& why);

  const EdgeOptions& options_;
  LocalCallers& local_;
  NodeProof proof_;
  Metrics& metrics_;
  std::vector<std::string> names_;  // of the plain listeners, besides their addresses
};

// What a listener's callers may take of it, all together; see http::ShareLimits.
[[nodiscard]] http::ServerLimits limits_of(Listener listener);

// How many bytes the body of a request may have, by its method and path.
[[nodiscard]] std::size_t body_bytes_max(const http::Request& head);

// The secret of --node-token-file, which is made if the file is missing; "" without the flag.
// Errors: the disk's; invalid (the file holds no usable token).
[[nodiscard]] Result<std::string> load_node_token(const EdgeOptions& options);

}  // namespace holdfast::agent
