// What the agent knows of a service account's token that it keeps for the time without the cloud.
// Pure.
//
// A token has two ends. status.expirationTimestamp of a TokenRequest says when the kubelet should
// have the next one. The claim `exp` of the token itself, a JWT, says how long the API server
// accepts it. They differ for the tokens that pods get by default: the API server extends those to
// a year (its flag --service-account-extend-token-expiration) and says one hour, as if they had not
// been extended.

#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::sync::autonomy {

// A token that the agent could answer a TokenRequest with.
struct StoredToken {
  std::string namespace_name;
  std::string service_account;
  std::string pod_uid;  // of the pod that it is bound to; "": not bound to a pod
  std::vector<std::string> audiences;
  // When the API server accepts it no longer: the claim `exp`, or expirationTimestamp if the token
  // has no such claim; nothing if neither says.
  std::optional<WallTime> ends;
};

// Reads an answer to a TokenRequest. `path` is that of the request,
// "/api/v1/namespaces/NS/serviceaccounts/NAME/token"; `body` is JSON or Kubernetes protobuf. The
// token's signature is not checked. Errors: invalid (another path; a body that cannot be read).
[[nodiscard]] Result<StoredToken> read_token(std::string_view path, const std::string& body);

// Whether a token of this node may still be asked for: its pod is one of the node's pods, or it is
// bound to none.
[[nodiscard]] bool is_needed(const StoredToken& token, const std::set<std::string>& pod_uids);

}  // namespace holdfast::sync::autonomy
