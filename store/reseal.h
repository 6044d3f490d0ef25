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

// On somebody's order: what `to` seals and is plain is sealed; with `from` what is sealed is opened
// with that and sealed again, whatever it is. What is sealed and `from` is null stays as it is.
// Nothing of what was plain is left in the file or its log; what a flash chip keeps behind our back
// is beyond us. Errors: denied, naming a row that `from` does not open (nothing was changed);
// corrupt; the disk's.
[[nodiscard]] Result<Resealed> reseal(Database& database, const Seal* from, const Sealing& to);

// For the start of a program that has a key: what was plain, or sealed by schema 2, is sealed as it
// is to be, if that was never done before; rows that another key sealed stay as they are. Once is
// all: after that (or after reseal()) nothing plain is taken over, for whoever can write to the
// file could put it there. Errors: corrupt, the disk's.
[[nodiscard]] Result<Resealed> seal_once(Database& database, const Sealing& to);

}  // namespace holdfast::store
