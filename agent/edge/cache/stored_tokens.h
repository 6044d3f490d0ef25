// The tokens of this node's pods that are kept for the time without the cloud, and when they are
// dropped.
//
// No clock decides about a token: that of a node may be wrong by years, and a pod with an old token
// runs while one without a token does not. So a token is kept until its successor arrives or its
// pod is gone.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <set>
#include <string>

#include "agent/edge/cache/stored_answers.h"
#include "sync/autonomy/token.h"

namespace holdfast::agent {

// The key of the stored answer to a TokenRequest: "token PATH HASH", with a hash of the body. The
// same request gets the same token: audience, bound pod and duration are in the body.
inline constexpr std::string_view token_prefix = "token ";
[[nodiscard]] std::string token_key(std::string_view path, const std::string& body);

// Tokens by their keys.
using StoredTokens = std::map<std::string, sync::autonomy::StoredToken>;

// The node's own tokens. Those that cannot be read are left out. Errors: the disk's.
[[nodiscard]] Result<StoredTokens> stored_tokens(StoredAnswers& answers);

// When a stored token ends; nothing if it does not say.
[[nodiscard]] std::optional<WallTime> end_of_token(std::string_view key,
                                                   const store::Answer& answer);

// Removes the node's tokens that no pod in `pod_uids`, which must be all pods of the node, may ask
// for. Errors: the disk's.
[[nodiscard]] Status remove_unneeded_tokens(StoredAnswers& answers,
                                            const std::set<std::string>& pod_uids);

}  // namespace holdfast::agent
