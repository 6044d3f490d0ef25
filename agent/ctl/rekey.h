// `holdfastctl rekey`: re-encrypts ("seals") the cache of a stopped edge agent with another key.

#pragma once

#include <string>

#include "platform/result.h"

namespace holdfast::agent {

struct RekeySettings {
  std::string data_dir;
  std::string old_key_file;  // "": only plain rows are sealed, sealed ones stay
  std::string new_key_file;
};

// Returns the text to print. The change is one transaction, so a power cut leaves either the old or
// the new key. The data directory is locked meanwhile, so that the agent cannot start. Errors:
// invalid (a key file), denied (the old key is wrong), conflict (the agent runs), not_found (no
// agent has run there), those of the disk.
[[nodiscard]] Result<std::string> rekey(const RekeySettings& settings);

}  // namespace holdfast::agent
