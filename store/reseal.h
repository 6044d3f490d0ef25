// Seals the rows of cache.db again: plain rows when a key is introduced, sealed rows when the key
// is replaced.
//
// Everything is one transaction: after a crash either all rows are unchanged or all are sealed
// anew.

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

// For an operator who changes the key. Seals the plain rows that `to` covers. Sealed rows are
// opened with `from` and sealed again; without `from` they are not changed. Afterwards neither the
// file nor its log contains the plain bytes; copies inside a flash chip may remain.
// Errors: denied, naming a row that `from` cannot open (nothing has changed); conflict (all rows
// are sealed, but another process has the file open, and the log keeps plain bytes until its last
// user closes it); corrupt; those of the disk.
[[nodiscard]] Result<Resealed> reseal(Database& database, const Seal* from, const Sealing& to);

// For the start of a program that has a key: seals rows that are plain or sealed as in schema 2.
// Rows sealed with another key are not changed. It acts only once in the life of a file: later, or
// after reseal(), plain rows are not accepted, because anybody who can write to the file could have
// put them there. Errors: conflict (as above; the next call tries again), corrupt, those of the
// disk.
[[nodiscard]] Result<Resealed> seal_once(Database& database, const Sealing& to);

}  // namespace holdfast::store
