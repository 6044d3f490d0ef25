// Carries what is still readable of a damaged outbox over into a fresh one.

#pragma once

#include <cstdint>
#include <filesystem>

#include "platform/result.h"
#include "store/sqlite.h"

namespace holdfast::store {

struct Salvaged {
  std::int64_t entries = 0;  // carried over, with their ids and their order
  std::int64_t refused = 0;  // read, but failing their checksum or in disorder
  bool whole = false;        // every entry of the file could be read

  bool operator==(const Salvaged&) const = default;
};

// Reads `damaged` (as Recovered::damage names it) from both ends towards the damage. Entries that
// were being sent arrive as maybe_sent; the journal stays behind. `fresh` was migrated to
// outbox_schema(), and no Outbox was opened on it yet. Errors: those of writing to `fresh`; a file
// of which nothing can be read is none.
[[nodiscard]] Result<Salvaged> salvage_outbox(const std::filesystem::path& damaged,
                                              Database& fresh);

}  // namespace holdfast::store
