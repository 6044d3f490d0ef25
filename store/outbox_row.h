// Reads and writes an outbox entry as a row of its table. Shared by the outbox and salvage.h.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/outbox.h"
#include "store/sqlite.h"

namespace holdfast::store {

// "SELECT ... FROM entry" followed by `rest`, such as a WHERE or ORDER BY clause.
[[nodiscard]] std::string select_entry(std::string_view rest);

// Reads the current row of a select_entry().
[[nodiscard]] Entry read_entry(const Cursor& row);
[[nodiscard]] std::int64_t place_of(const Cursor& row);

// The columns of a row besides the write itself.
struct EntryState {
  std::optional<std::int64_t> id = {};     // nothing: the next id
  std::optional<std::int64_t> place = {};  // nothing: the end of the queue
  bool maybe_sent = false;
  int attempts = 0;
};

[[nodiscard]] Statement prepare_insert_entry(Database& database);

// Runs the statement of prepare_insert_entry().
[[nodiscard]] Status insert_entry(Statement& insert, const Write& write, const EntryState& state);

// The bytes of a write that count towards OutboxLimits::bytes.
[[nodiscard]] std::int64_t counted_bytes(const Write& write);

}  // namespace holdfast::store
