// Seals what is in cache.db anew: plain rows once a key is given, sealed rows when it is replaced.
//
// One transaction: a crash leaves every row as it was, or every row under the new seal.

#pragma once

#include <cstdint>

#include "store/seal.h"
#include "store/sqlite.h"

namespace holdfast::store {

struct Resealed {
  std::int64_t objects = 0;
  std::int64_t answers = 0;

  bool operator==(const Resealed&) const = default;
};

// For an operator who changes the key. Plain rows that `to` covers are sealed. Rows that are sealed
// are opened with `from` and sealed again; without `from` they stay as they are. Afterwards neither
// the file nor its log has the plain bytes; copies that a flash chip keeps internally may remain.
// Errors: denied, naming a row that `from` does not open (nothing was changed); conflict (all rows
// are sealed, but another process has the file open and keeps plain bytes in the log, which its
// last user removes); corrupt; the disk's.
[[nodiscard]] Result<Resealed> reseal(Database& database, const Seal* from, const Sealing& to);

// For the start of a program that has a key: rows that are plain, or sealed as schema 2 did, are
// sealed as they should be; rows that another key sealed stay as they are. It acts once in the life
// of a file: later, or after reseal(), plain rows are not taken over, because anybody who can write
// to the file could have put them there. Errors: conflict (as above; it acts again), corrupt, the
// disk's.
[[nodiscard]] Result<Resealed> seal_once(Database& database, const Sealing& to);

}  // namespace holdfast::store
