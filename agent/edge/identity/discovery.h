// What a node that joins believes of kube-public/cluster-info: the authority that was pinned, in a
// document that was signed with the join token, as kubeadm checks it.
//
// Pure: text in, text out.

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::agent {

// A bootstrap token, "ID.SECRET". The id is public; the secret signs and authenticates.
struct JoinToken {
  std::string id;
  std::string secret;
};

// Errors: invalid. Nothing of the token is in the message.
[[nodiscard]] Result<JoinToken> parse_join_token(std::string_view text);

// Whether the ConfigMap's key "jws-kubeconfig-ID" is the token's signature over its kubeconfig.
// Errors: denied (no signature, or another one), invalid (no such document).
[[nodiscard]] Status check_signature(std::string_view cluster_info, const JoinToken& token);

// The authority out of the document. Errors: denied (another one than the pinned), invalid.
[[nodiscard]] Result<std::string> pinned_authority(std::string_view cluster_info,
                                                   std::string_view ca_hash);

// "sha256:<64 hexadecimal digits>" -> the digits, in lower case. Errors: invalid.
[[nodiscard]] Result<std::string> parse_ca_hash(std::string_view text);

}  // namespace holdfast::agent
