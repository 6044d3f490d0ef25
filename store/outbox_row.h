// How an outbox entry stands in its table; shared by the outbox and the salvage of a damaged one.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/outbox.h"
#include "store/sqlite.h"

namespace holdfast::store {

// "SELECT ... FROM entry", to be continued with WHERE or ORDER BY.
[[nodiscard]] std::string select_entry(std::string_view rest);

// The current row of a select_entry().
[[nodiscard]] Entry read_entry(const Cursor& row);
[[nodiscard]] std::int64_t place_of(const Cursor& row);

// What a row has beside the write itself.
struct EntryState {
  std::optional<std::int64_t> id = {};     // nothing: the next one
  std::optional<std::int64_t> place = {};  // nothing: at the end
  bool maybe_sent = false;
  int attempts = 0;
};

[[nodiscard]] Statement prepare_insert_entry(Database& database);

// Runs the statement that prepare_insert_entry() made.
[[nodiscard]] Status insert_entry(Statement& insert, const Write& write, const EntryState& state);

// What a write counts for in OutboxLimits::bytes.
[[nodiscard]] std::int64_t counted_bytes(const Write& write);

}  // namespace holdfast::store
