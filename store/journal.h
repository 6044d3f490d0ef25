// What the agent did and why, for people: a capped ring of records in outbox.db.
//
// It shares the outbox's file so that a decision and its record are one transaction. Each write
// that the outbox accepted has a record, and another one with its outcome. Threading and
// transactions as in outbox.h.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"
#include "store/sqlite.h"

namespace holdfast::store {

struct Record {
  std::int64_t seq = 0;  // given by append(); grows, with no number used twice
  WallTime at{};
  std::string kind = {};     // what sort of thing happened: "write-applied", "link"
  std::string subject = {};  // what it happened to: "pods/default/web-1"
  std::string what = {};     // one line for people
  std::string detail = {};   // JSON; opaque here
  std::int64_t entry = 0;    // the outbox entry it tells of; 0: none

  bool operator==(const Record&) const = default;
};

struct JournalLimits {
  std::int64_t rows = 10'000;
  std::size_t detail_bytes = 64 << 10;  // longer ones are replaced by {"cut":SIZE}
};

struct JournalQuery {
  std::int64_t from = 0;     // first seq
  std::size_t limit = 1000;  // rows at most
  std::string subject = {};  // empty: all
};

class Journal {
 public:
  // `database` was migrated to outbox_schema() and outlives this.
  explicit Journal(Database& database, JournalLimits limits = {});

  // Writes `record` (its seq is ignored) and returns its seq; the oldest beyond the limit goes.
  [[nodiscard]] Result<std::int64_t> append(const Transaction& in, const Record& record);

  // Oldest first.
  [[nodiscard]] Result<std::vector<Record>> read(const JournalQuery& query);

  // The seq of the newest record; 0: there is none.
  [[nodiscard]] Result<std::int64_t> newest();

 private:
  Database& database_;
  JournalLimits limits_;
  Statement append_, cap_, read_, newest_;
};

}  // namespace holdfast::store
