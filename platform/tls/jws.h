// JSON Web Signatures with a shared secret (HS256), detached: as kubeadm signs cluster-info.

#pragma once

#include <string>
#include <string_view>

namespace holdfast::tls {

// "HEADER..SIGNATURE" over `content`, which is not part of it. The header names the key: the text
// is the one that Kubernetes' bootstrap signer makes of a token's id and secret. `key_id` holds
// nothing that JSON would have to escape (checked).
[[nodiscard]] std::string detached_jws(std::string_view content, std::string_view key_id,
                                       std::string_view key);

// Whether both are the same, in a time that depends on their lengths only.
[[nodiscard]] bool equal_in_constant_time(std::string_view left, std::string_view right);

}  // namespace holdfast::tls
