// Increasing numbers that are never reused, not even after a restart or power cut: local versions.
//
// Numbers are reserved in blocks, durably and before the first number of a block is used, so that
// one write to flash serves many numbers. A restart skips the rest of its block.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "store/sqlite.h"

namespace holdfast::store {

class Sequence {
 public:
  // `database` must have been migrated to cache_schema() and must outlive this object. The first
  // number is 1.
  Sequence(Database& database, std::string_view name, std::int64_t block = 1000);

  // The next number. No Transaction of the database may be open (checked), because a reservation
  // must not be rolled back. Errors: those of the disk (no number was used).
  [[nodiscard]] Result<std::int64_t> next();

  // Whether `value` may have been returned already, by this object or in an earlier run. (What a
  // restart skips counts as returned.) Errors: those of the disk.
  [[nodiscard]] Result<bool> has_returned(std::int64_t value);

  // The last number that this object has returned; 0: none.
  [[nodiscard]] std::int64_t last() const { return last_; }

  // From now on next() returns numbers greater than `value`.
  [[nodiscard]] Status advance_past(std::int64_t value);

 private:
  [[nodiscard]] Status load();
  [[nodiscard]] Status reserve(std::int64_t end);

  Database& database_;
  std::string name_;
  std::int64_t block_;
  std::int64_t next_ = 0;  // 0: not loaded yet
  std::int64_t end_ = 0;   // first number that is not reserved
  std::int64_t last_ = 0;
  Statement find_, put_;
};

}  // namespace holdfast::store
