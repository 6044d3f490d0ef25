// Checks requests by their head alone, before their body is read: who the caller is, by which name
// it addressed the listener, and how large the body may be. Every listener of the agent uses a gate
// from here.
//
// Refusals are counted in metrics by listener and reason, and logged within the limits of
// platform/log.h.
//
// Threading: the loop's thread only.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/edge/door/identify.h"
#include "agent/edge/door/local_callers.h"
#include "agent/edge/options/options.h"
#include "platform/http/server.h"
#include "platform/metrics.h"

namespace holdfast::agent {

enum class Listener : std::uint8_t { proxy, tls, admin, admin_tls };

class RequestGate {
 public:
  // `node_token` is the secret of --node-token-file or "". The other parameters must outlive this
  // and the servers that use its gates.
  RequestGate(const EdgeOptions& options, LocalCallers& local, std::string node_token,
              Metrics& metrics);

  // The gate for the server of that listener.
  [[nodiscard]] http::Gate gate_of(Listener listener);

  // Identifies the caller of a request. It is called again once the request was read and its peer
  // has been confirmed. Errors: denied.
  [[nodiscard]] Result<Caller> identify_at(Listener listener, const http::Request& request);
  // Whether the request carries the node's token, which must not be sent to the API server.
  [[nodiscard]] bool has_node_token(const http::Request& request) const {
    return is_node_token(request.headers.get("authorization"), authentication_.token);
  }
  // The refusal for a caller who may not see a page of an admin listener; nothing if it may.
  // Liveness, readiness and metrics are public. Upgrades over the air are also for callers with a
  // token, which the API server checks. All other pages are for the node itself and for cluster
  // administrators.
  [[nodiscard]] std::optional<http::Response> refuse_admin(Listener listener,
                                                           const http::Request& request);

 private:
  [[nodiscard]] http::Admission admit(Listener listener, const http::Request& head);
  [[nodiscard]] http::Response refuse(Listener listener, const http::Request& request, int status,
                                      std::string_view reason, const std::string& why);

  const EdgeOptions& options_;
  LocalCallers& local_;
  NodeAuthentication authentication_;
  Metrics& metrics_;
  std::vector<std::string> names_;  // names of the plain listeners, in addition to their addresses
};

// The limits for all callers of a listener together; see http::ShareLimits.
[[nodiscard]] http::ServerLimits limits_of(Listener listener);

// How many bytes the body of a request may have, by its method and path.
[[nodiscard]] std::size_t body_bytes_max(const http::Request& head);

// Reads the secret of --node-token-file, and creates the file with a new secret if it is missing.
// "" without the flag. Errors: the disk's; invalid (the file holds no usable token).
[[nodiscard]] Result<std::string> load_node_token(const EdgeOptions& options);

}  // namespace holdfast::agent
