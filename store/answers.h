// Cached responses that are not lists: discovery documents, tokens. A table of cache.db.
//
// The caller decides whether a response has expired: this table has no clock, and an expired
// response may be better than none. For threading and transactions see cache.h.

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

// Limits of the table. One owner may be the first owner: room is always made for its responses,
// while all other owners (foreign owners) share at most half of the rows and bytes. Bytes are those
// of the stored responses (packed, sealed) and their keys.
struct AnswerLimits {
  std::int64_t rows = 1000;
  std::int64_t bytes = 16 << 20;
  std::int64_t answer_bytes = 2 << 20;  // of one response (unpacked) and its key
  std::string first_owner = {};         // "": all owners are foreign
  std::int64_t foreign_rows = 64;       // of each foreign owner
  std::int64_t foreign_bytes = 4 << 20;
};

class Answers {
 public:
  // `database` must have been migrated to cache_schema() and must outlive this object.
  explicit Answers(Database& database, AnswerLimits limits = {}, Sealing sealing = {});

  // Stores `answer`, replacing an older one; an identical one is not written again. To stay within
  // the limits, other rows are removed: of the same owner, documents (their keys are paths and
  // begin with '/') before the rest, least recently used first. For the first owner, rows of
  // foreign owners are removed before its own documents, and these before its own tokens (what has
  // a time at which it expires), the first to expire first. Everything else of the first owner is
  // never removed.
  // Errors: exhausted if there is still not enough room, or `answer` is too large; it is not stored
  // then.
  [[nodiscard]] Status put(const Transaction& in, std::string_view owner, std::string_view key,
                           const Answer& answer);

  // Errors: corrupt (the bytes fail their checksum), denied (sealed with another key, or not sealed
  // although they should be).
  [[nodiscard]] Result<std::optional<Answer>> find(std::string_view owner, std::string_view key);

  // The keys of an owner's responses that begin with `prefix`, sorted.
  [[nodiscard]] Result<std::vector<std::string>> keys(std::string_view owner,
                                                      std::string_view prefix);

  [[nodiscard]] Status remove(const Transaction& in, std::string_view owner, std::string_view key);

  // Removes the responses of foreign owners that expired before `time` and returns their number.
  [[nodiscard]] Result<std::int64_t> remove_expired(const Transaction& in, WallTime time);

 private:
  using Name = std::pair<std::string, std::string>;  // owner, key
  struct Row {
    Name name;
    std::int64_t bytes = 0;
    std::optional<std::int64_t> expires = {};  // nanoseconds since 1970
    std::uint64_t used = 0;                    // 0: not used in this run

    [[nodiscard]] bool is_document() const { return name.second.starts_with('/'); }
  };
  [[nodiscard]] Status make_room(const Transaction& in, const Name& name, std::int64_t bytes);
  [[nodiscard]] Result<std::vector<Row>> others(const Name& name);
  // The row of the first owner that expires first; end() if none does.
  [[nodiscard]] std::vector<Row>::const_iterator first_to_expire(
      const std::vector<Row>& rows) const;
  // The next row to remove so that `name` fits; end() if it fits already. Errors: exhausted.
  [[nodiscard]] Result<std::vector<Row>::const_iterator> victim(const std::vector<Row>& rows,
                                                                const Name& name,
                                                                std::int64_t bytes) const;
  void note_use(std::string_view owner, std::string_view key);

  Sealing sealing_;
  AnswerLimits limits_;
  Database& database_;
  Statement put_, find_, remove_, remove_expired_, size_, rows_, keys_;
  std::map<Name, std::uint64_t> used_;  // the value of uses_ at the last use in this run
  std::uint64_t uses_ = 0;
};

}  // namespace holdfast::store
