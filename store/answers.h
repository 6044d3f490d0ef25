// Cached answers that are not lists: discovery documents, tokens. A table of cache.db.
//
// The caller judges expiry: this table has no clock, and a late answer may be better than none.
// Threading and transactions as in cache.h.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "platform/time.h"
#include "store/seal.h"
#include "store/sqlite.h"

namespace holdfast::store {

struct Answer {
  int status = 0;
  std::string content_type = {};
  std::string bytes = {};
  std::optional<WallTime> expires = {};

  bool operator==(const Answer&) const = default;
};

struct AnswerLimits {
  std::int64_t rows = 1000;
  std::int64_t bytes = 16 << 20;
};

class Answers {
 public:
  // `database` was migrated to cache_schema() and outlives this.
  explicit Answers(Database& database, AnswerLimits limits = {}, Sealing sealing = {});

  // Keeps `answer`, in the place of an older one; the same one again is not written.
  // Errors: exhausted when `limits` would be passed (nothing was changed).
  [[nodiscard]] Status put(const Transaction& in, std::string_view owner, std::string_view key,
                           const Answer& answer);

  // Errors: corrupt, when the bytes fail their checksum; denied, when they are sealed with another
  // key, or should be sealed and are not.
  [[nodiscard]] Result<std::optional<Answer>> find(std::string_view owner, std::string_view key);

  [[nodiscard]] Status remove(const Transaction& in, std::string_view owner, std::string_view key);

  // Removes what expired before `time` and returns how many that were.
  [[nodiscard]] Result<std::int64_t> remove_expired(const Transaction& in, WallTime time);

 private:
  Sealing sealing_;
  AnswerLimits limits_;
  Database& database_;
  Statement put_, find_, remove_, remove_expired_, others_;
};

}  // namespace holdfast::store
