// A key-value store with revisions, for the lab's API server: revisions.db.
//
// Every put and delete gets the next revision from one counter for all keys. Reads see the latest
// revision or any other that is not compacted; events_since() returns what a watch replays.
// Revisions are never reused, not even after a restart.
//
// Each write outside begin()/commit() is its own transaction. Writes inside are kept or lost
// together; reads of this object see them already, so do not report them to anybody before commit()
// has succeeded.
// Threading: the thread that opened it. Only one process may have the file open.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "store/migrate.h"
#include "store/sqlite.h"

namespace holdfast::store {

[[nodiscard]] const Schema& revisions_schema();

struct StoredValue {
  std::string key = {};
  std::string value = {};
  std::int64_t create_revision = 0;
  std::int64_t mod_revision = 0;

  bool operator==(const StoredValue&) const = default;
};

struct ListQuery {
  std::string prefix = {};              // empty: every key
  std::string start_after = {};         // only keys after this one; empty: from the first
  std::size_t limit = 0;                // rows at most; 0: no limit
  std::optional<std::int64_t> at = {};  // revision to read at; nothing: the latest
};

struct ListPage {
  std::vector<StoredValue> rows = {};  // in key order
  std::int64_t revision = 0;           // the revision that was read
  std::int64_t remaining = 0;          // rows of the query after this page

  bool operator==(const ListPage&) const = default;
};

struct KeyEvent {
  enum class Kind : std::uint8_t { put, remove };

  Kind kind = Kind::put;
  std::int64_t revision = 0;
  std::int64_t create_revision = 0;
  std::string key = {};
  std::string value = {};                    // empty for remove
  std::optional<StoredValue> previous = {};  // the key's value before; nothing: it did not exist

  bool operator==(const KeyEvent&) const = default;
};

class Revisions {
 public:
  // The options that the API server uses: a power cut may lose the last commits but never damages
  // the file.
  [[nodiscard]] static DatabaseOptions usual_options();

  // Errors: those of Database::open() and migrate(); unavailable if another process has the file
  // open.
  [[nodiscard]] static Result<Revisions> open(const std::filesystem::path& file,
                                              const DatabaseOptions& options = usual_options());
  [[nodiscard]] static Result<Revisions> open(Database database);

  // Groups all writes until commit(). If commit() fails, none of them happened, and
  // current_revision() is again what it was at begin(). A write that fails with conflict or
  // not_found does not affect the group; after any other error the group cannot be committed.
  [[nodiscard]] Status begin();
  [[nodiscard]] Status commit();
  void roll_back();
  [[nodiscard]] bool grouping() const { return group_.has_value(); }

  // Sets `key` and returns the write's revision. `expected` is the mod_revision that the key must
  // have; 0: it must not exist; nothing: no condition. Errors: conflict, naming both revisions.
  [[nodiscard]] Result<std::int64_t> put(std::string_view key, std::string_view value,
                                         std::optional<std::int64_t> expected = std::nullopt);

  // Deletes `key` and returns the delete's revision. Errors: not_found, conflict.
  [[nodiscard]] Result<std::int64_t> remove(std::string_view key,
                                            std::optional<std::int64_t> expected = std::nullopt);

  // Errors: not_found; gone if `at` was compacted; invalid if `at` is in the future.
  [[nodiscard]] Result<StoredValue> get(std::string_view key,
                                        std::optional<std::int64_t> at = std::nullopt);
  [[nodiscard]] Result<ListPage> list(const ListQuery& query);

  // The events after `revision` of keys that start with `prefix`, oldest first, at most `limit` (0:
  // all). Errors: gone if some of them were compacted; invalid if `revision` is in the future.
  [[nodiscard]] Result<std::vector<KeyEvent>> events_since(std::string_view prefix,
                                                           std::int64_t revision,
                                                           std::size_t limit = 0);

  // Deletes values that were replaced or deleted up to `revision`; reads below it then return
  // `gone`. The cost grows with the number of events since the last compaction, so a caller that
  // must not block for long compacts in small steps. Errors: invalid if `revision` is in the
  // future. Not allowed inside begin()/commit() (checked).
  [[nodiscard]] Status compact(std::int64_t revision);

  [[nodiscard]] std::int64_t current_revision() const { return current_; }
  [[nodiscard]] std::int64_t compacted_revision() const { return compacted_; }

 private:
  struct Place {  // of the newest value of a key
    std::int64_t revision = 0;
    std::int64_t create_revision = 0;
  };
  struct Write {
    KeyEvent::Kind kind;
    std::string_view key;
    std::string_view value;
    std::optional<std::int64_t> expected;
  };

  explicit Revisions(Database database);
  [[nodiscard]] Status load();
  [[nodiscard]] Result<Place> find(std::string_view key);
  [[nodiscard]] Result<std::int64_t> write(const Write& wanted);
  [[nodiscard]] Result<std::int64_t> write_grouped(const Write& wanted);
  [[nodiscard]] Result<std::int64_t> write_event(const Write& wanted);
  [[nodiscard]] Status check_readable(std::int64_t revision) const;
  [[nodiscard]] Result<ListPage> list_latest(const ListQuery& query);
  [[nodiscard]] Result<ListPage> list_at(const ListQuery& query);
  [[nodiscard]] Status forget(std::int64_t from, std::int64_t to);

  Database database_;
  Statement find_, insert_event_, set_latest_, drop_latest_;
  Statement get_latest_, get_at_, list_latest_, list_at_, count_latest_, count_at_, events_;
  Statement forget_replaced_, forget_removed_, set_compacted_;
  std::int64_t current_ = 0;
  std::int64_t compacted_ = 0;

  std::optional<Transaction> group_;  // declared after database_: rolls back before it closes
  std::int64_t current_at_begin_ = 0;
  std::optional<Error> group_failed_;
};

}  // namespace holdfast::store
