// holdfastctl rekey: seals a stopped agent's cache with another key.

#pragma once

#include <string>

#include "platform/result.h"

namespace holdfast::agent {

struct RekeySettings {
  std::string data_dir;
  std::string old_key_file;  // "": what is plain is sealed, and nothing else
  std::string new_key_file;
};

// Returns what to print. All or nothing, also through a power cut; the agent is kept from starting
// meanwhile. Errors: invalid (a key), denied (the old key is not the one), conflict (the agent
// runs), not_found (no agent ever ran there), the disk's.
[[nodiscard]] Result<std::string> rekey(const RekeySettings& settings);

}  // namespace holdfast::agent
