// The journal of what the agent did and why, for people: a bounded ring of records in outbox.db.
//
// It is in the outbox's file so that a decision and its record share one transaction. Each
// journalled write has a record of its acceptance and another one of its outcome. For threading and
// transactions see outbox.h.

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
  std::int64_t seq = 0;  // assigned by append(); increasing, never reused
  WallTime at{};
  std::string kind = {};     // the kind of event: "write-applied", "link"
  std::string subject = {};  // the object concerned: "pods/default/web-1"
  std::string what = {};     // one line for people
  std::string detail = {};   // JSON; opaque here
  std::int64_t entry = 0;    // the outbox entry concerned; 0: none

  bool operator==(const Record&) const = default;
};

struct JournalLimits {
  std::int64_t rows = 10'000;
  std::size_t detail_bytes = 64 << 10;  // a longer detail is replaced by {"cut":SIZE}
};

struct JournalQuery {
  std::int64_t from = 0;     // the smallest seq to return
  std::size_t limit = 1000;  // rows at most
  std::string subject = {};  // empty: all
};

class Journal {
 public:
  // `database` must have been migrated to outbox_schema() and must outlive this object.
  explicit Journal(Database& database, JournalLimits limits = {});

  // Writes `record`, whose seq is ignored, and returns the assigned seq. Past the limit, the oldest
  // record is deleted.
  [[nodiscard]] Result<std::int64_t> append(const Transaction& in, const Record& record);

  // Returns matching records, oldest first.
  [[nodiscard]] Result<std::vector<Record>> read(const JournalQuery& query);

  // The seq of the newest record; 0 if there is none.
  [[nodiscard]] Result<std::int64_t> newest();

 private:
  Database& database_;
  JournalLimits limits_;
  Statement append_, cap_, read_, newest_;
};

}  // namespace holdfast::store
