// Numbers that only grow, also across restarts and power cuts: local versions.
//
// They are reserved in blocks, durably and before the first of a block is given out, so that one
// write to flash is good for many numbers. A restart skips what was left of its block.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "store/sqlite.h"

namespace holdfast::store {

class Sequence {
 public:
  // `database` was migrated to cache_schema() and outlives this. The first number ever is 1.
  Sequence(Database& database, std::string_view name, std::int64_t block = 1000);

  // The next number. Not while a Transaction of the database is open (checked): a reservation must
  // not be rolled back. Errors: the disk's (nothing was given out).
  [[nodiscard]] Result<std::int64_t> next();

  // From now on next() gives more than `value`.
  [[nodiscard]] Status advance_past(std::int64_t value);

 private:
  [[nodiscard]] Status load();
  [[nodiscard]] Status reserve(std::int64_t end);

  Database& database_;
  std::string name_;
  std::int64_t block_;
  std::int64_t next_ = 0;  // 0: not loaded yet
  std::int64_t end_ = 0;   // first number that is not reserved
  Statement find_, put_;
};

}  // namespace holdfast::store
