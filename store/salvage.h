// Copies the readable entries of a damaged outbox into a new one.

#pragma once

#include <cstdint>
#include <filesystem>

#include "platform/result.h"
#include "store/sqlite.h"

namespace holdfast::store {

struct Salvaged {
  std::int64_t entries = 0;  // copied, with their ids and their order
  std::int64_t refused = 0;  // readable, but with a wrong checksum or a duplicate id or place
  bool whole = false;        // every entry of the file could be read

  bool operator==(const Salvaged&) const = default;
};

// Reads `damaged` (see Recovered::damage) from both ends up to the damaged place. Entries that were
// being sent become maybe_sent; the journal is not copied. `fresh` must have been migrated to
// outbox_schema(), and no Outbox may have been opened on it yet. Errors: those of writing to
// `fresh`. It is not an error if nothing can be read.
[[nodiscard]] Result<Salvaged> salvage_outbox(const std::filesystem::path& damaged,
                                              Database& fresh);

}  // namespace holdfast::store
