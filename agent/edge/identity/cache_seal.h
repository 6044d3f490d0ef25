// Encryption of the cache on disk with the key of --cache-key-file. Encrypted are service account
// tokens and the objects of every kind except a few that hold no secrets, such as nodes, services
// and leases. Values are called sealed here when they are encrypted and authenticated.

#pragma once

#include <memory>
#include <string>

#include "platform/result.h"
#include "store/seal.h"

namespace holdfast::agent {

// Reads the key. Errors: invalid (no key), not_found, denied. All name the file; none contains any
// of its content.
[[nodiscard]] Result<std::unique_ptr<store::Seal>> read_cache_key(const std::string& file);

// Which objects and answers are sealed, and with which key. `seal` must outlive the result; null:
// nothing is sealed.
[[nodiscard]] store::Sealing sealing_with(const store::Seal* seal);

}  // namespace holdfast::agent
