// The key of --cache-key-file, and what it seals in the cache: tokens of service accounts, and the
// objects of every kind but a few that hold no secrets (nodes, services, leases and the like).

#pragma once

#include <memory>
#include <string>

#include "platform/result.h"
#include "store/seal.h"

namespace holdfast::agent {

// Errors: invalid (no key), not_found, denied; all name the file and tell nothing of its content.
[[nodiscard]] Result<std::unique_ptr<store::Seal>> read_cache_key(const std::string& file);

// `seal` outlives it; null: nothing is sealed.
[[nodiscard]] store::Sealing sealing_with(const store::Seal* seal);

}  // namespace holdfast::agent
