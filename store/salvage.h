// Copies what is readable in a damaged file into a new one.
//
// A table is read from both ends up to the damaged places. What is between is read row by row, for
// as many rowids as the largest outbox has, so that each damaged page costs only its own rows.

#pragma once

#include <cstdint>
#include <filesystem>

#include "platform/result.h"
#include "store/sqlite.h"

namespace holdfast::store {

struct Salvaged {
  std::int64_t entries = 0;  // copied rows; those of the outbox with their ids and their order
  std::int64_t refused = 0;  // readable, but with a wrong checksum or a duplicate id or place
  bool whole = false;        // every row of the table could be read

  bool operator==(const Salvaged&) const = default;
};

// Copies the outbox from `damaged` (see Recovered::damage). Entries that were being sent become
// maybe_sent; the journal is not copied. `fresh` must have been migrated to outbox_schema(), and no
// Outbox may have been opened on it yet. Errors: those of writing to `fresh`. It is not an error if
// nothing can be read.
[[nodiscard]] Result<Salvaged> salvage_outbox(const std::filesystem::path& damaged,
                                              Database& fresh);

// Copies the answers and the counters of cache.db, and counts the answers. Scopes are not copied: a
// missing object would be taken for a deleted one. `fresh` must have been migrated to
// cache_schema(). Errors: as above.
[[nodiscard]] Result<Salvaged> salvage_answers(const std::filesystem::path& damaged,
                                               Database& fresh);

}  // namespace holdfast::store
