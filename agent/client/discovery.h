// Checks the document kube-public/cluster-info as kubeadm does when a node joins: it must be signed
// with the join token and contain the pinned certificate authority.
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

// Errors: invalid. The message contains no part of the token.
[[nodiscard]] Result<JoinToken> parse_join_token(std::string_view text);

// Checks that the ConfigMap's key "jws-kubeconfig-ID" is the token's signature of its kubeconfig.
// Errors: denied (no signature, or another one), invalid (not such a document).
[[nodiscard]] Status check_signature(std::string_view cluster_info, const JoinToken& token);

// The certificate authority (PEM) of the document. Errors: denied (not the pinned one), invalid.
[[nodiscard]] Result<std::string> pinned_authority(std::string_view cluster_info,
                                                   std::string_view ca_hash);

// "sha256:<64 hexadecimal digits>" -> the digits in lower case. Errors: invalid.
[[nodiscard]] Result<std::string> parse_ca_hash(std::string_view text);

}  // namespace holdfast::agent
