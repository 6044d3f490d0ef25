// Detached JSON Web Signatures with a shared secret (HS256), as kubeadm signs cluster-info. Any
// thread.

#pragma once

#include <string>
#include <string_view>

namespace holdfast::tls {

// Returns "HEADER..SIGNATURE" for `content`, which is not included. The header names the key. The
// result is the same as that of Kubernetes' bootstrap signer for a token's id and secret. `key_id`
// must consist of letters, digits, '-' and '_' (checked).
[[nodiscard]] std::string detached_jws(std::string_view content, std::string_view key_id,
                                       std::string_view key);

// Compares in a time that depends only on the lengths.
[[nodiscard]] bool equal_in_constant_time(std::string_view left, std::string_view right);

}  // namespace holdfast::tls
