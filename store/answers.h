// Cached answers that are not lists: discovery documents, tokens. A table of cache.db.
//
// The caller judges expiry: this table has no clock, and a late answer may be better than none.
// Threading and transactions as in cache.h.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// What may be kept. One owner may be the first: room is always made for its answers, and all others
// (foreign owners) share at most half of the rows and bytes. Bytes are those of answers, as they
// are kept (packed, sealed), and keys.
struct AnswerLimits {
  std::int64_t rows = 1000;
  std::int64_t bytes = 16 << 20;
  std::int64_t answer_bytes = 2 << 20;  // of one, as it came
  std::string first_owner = {};         // "": all owners are foreign
  std::int64_t foreign_rows = 64;       // of one foreign owner
  std::int64_t foreign_bytes = 4 << 20;
};

class Answers {
 public:
  // `database` was migrated to cache_schema() and outlives this.
  explicit Answers(Database& database, AnswerLimits limits = {}, Sealing sealing = {});

  // Keeps `answer`, in the place of an older one; the same one again is not written. To stay within
  // the limits others are removed: of the same owner, documents (their keys begin with '/': they
  // are paths) before the rest, and the least recently used first; for the first owner, those of
  // foreign owners before its own. Its tokens and the like are never removed.
  // Errors: exhausted when that does not help; the answer is not kept.
  [[nodiscard]] Status put(const Transaction& in, std::string_view owner, std::string_view key,
                           const Answer& answer);

  // Errors: corrupt, when the bytes fail their checksum; denied, when they are sealed with another
  // key, or should be sealed and are not.
  [[nodiscard]] Result<std::optional<Answer>> find(std::string_view owner, std::string_view key);

  // The keys of an owner's answers that begin with `prefix`, sorted.
  [[nodiscard]] Result<std::vector<std::string>> keys(std::string_view owner,
                                                      std::string_view prefix);

  [[nodiscard]] Status remove(const Transaction& in, std::string_view owner, std::string_view key);

  // Removes what expired before `time` and returns how many that were.
  [[nodiscard]] Result<std::int64_t> remove_expired(const Transaction& in, WallTime time);

 private:
  using Name = std::pair<std::string, std::string>;  // owner, key
  struct Row {
    Name name;
    std::int64_t bytes = 0;
    std::uint64_t used = 0;  // 0: not in this run

    [[nodiscard]] bool is_document() const { return name.second.starts_with('/'); }
  };
  [[nodiscard]] Status make_room(const Transaction& in, const Name& name, std::int64_t bytes);
  [[nodiscard]] Result<std::vector<Row>> others(const Name& name);
  // Which row goes first, so that `name` fits in; end: it fits already. Errors: exhausted.
  [[nodiscard]] Result<std::vector<Row>::const_iterator> victim(const std::vector<Row>& rows,
                                                                const Name& name,
                                                                std::int64_t bytes) const;
  void note_use(std::string_view owner, std::string_view key);

  Sealing sealing_;
  AnswerLimits limits_;
  Database& database_;
  Statement put_, find_, remove_, remove_expired_, size_, rows_, keys_;
  std::map<Name, std::uint64_t> used_;  // when, as a count of all uses in this run
  std::uint64_t uses_ = 0;
};

}  // namespace holdfast::store
