// The read functions of Revisions.

#include "store/revisions.h"

namespace holdfast::store {
namespace {

using Kind = KeyEvent::Kind;

// The keys in [from, to).
struct KeyRange {
  std::string from;
  std::string to;
};

// The first string after all strings that start with `prefix`. Keys are UTF-8, so none starts with
// 0xff.
std::string end_of(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return "\xff";
  end.back() = static_cast<char>(end.back() + 1);
  return end;
}

KeyRange range_of(std::string_view prefix, std::string_view start_after) {
  KeyRange range{std::string(prefix), end_of(prefix)};
  // In byte order, the next key after `start_after` is `start_after` with a zero byte appended.
  if (start_after >= prefix && !start_after.empty()) range.from = std::string(start_after) + '\0';
  return range;
}

// SQLite's LIMIT: one more than requested, to find out whether more rows exist.
std::int64_t one_over_limit(std::size_t limit) {
  return limit == 0 ? -1 : static_cast<std::int64_t>(limit) + 1;
}

// Columns: key, value, create_revision, revision.
StoredValue read_value(const Cursor& row) {
  return {.key = std::string(row.text(0)),
          .value = std::string(row.blob(1)),
          .create_revision = row.integer(2),
          .mod_revision = row.integer(3)};
}

// Columns: kind, revision, create_revision, key, value; previous' create_revision, revision, value.
KeyEvent read_event(const Cursor& row) {
  KeyEvent event{.kind = row.integer(0) == 0 ? Kind::put : Kind::remove,
                 .revision = row.integer(1),
                 .create_revision = row.integer(2),
                 .key = std::string(row.text(3)),
                 .value = std::string(row.blob(4))};
  if (!row.is_null(6)) {
    event.previous = StoredValue{.key = event.key,
                                 .value = std::string(row.blob(7)),
                                 .create_revision = row.integer(5),
                                 .mod_revision = row.integer(6)};
  }
  return event;
}

// Reads rows up to `limit` (0: all) and returns whether there was another one.
Result<bool> read_rows(Cursor& row, std::size_t limit, std::vector<StoredValue>& rows) {
  for (;;) {
    TRY(const bool found, row.next());
    if (!found) return false;
    if (limit != 0 && rows.size() == limit) return true;
    rows.push_back(read_value(row));
  }
}

}  // namespace

Status Revisions::check_readable(std::int64_t revision) const {
  if (revision < compacted_) {
    return fail(Errc::gone, "revision " + std::to_string(revision) +
                                " was compacted; history"
                                " starts at " +
                                std::to_string(compacted_));
  }
  if (revision > current_) {
    return fail(Errc::invalid, "revision " + std::to_string(revision) +
                                   " is in the future; the"
                                   " current one is " +
                                   std::to_string(current_));
  }
  return {};
}

Result<StoredValue> Revisions::get(std::string_view key, std::optional<std::int64_t> at) {
  if (at) {
    if (auto readable = check_readable(*at); !readable) return fail(readable.error());
  }
  Cursor row = at ? get_at_.use(key, *at) : get_latest_.use(key);
  TRY(const bool found, row.next());
  if (!found || (at && row.integer(4) != 0)) {
    return fail(Errc::not_found, "key " + std::string(key));
  }
  return read_value(row);
}

Result<ListPage> Revisions::list(const ListQuery& query) {
  if (!query.at || *query.at == current_) return list_latest(query);
  if (auto readable = check_readable(*query.at); !readable) return fail(readable.error());
  return list_at(query);
}

Result<ListPage> Revisions::list_latest(const ListQuery& query) {
  const KeyRange range = range_of(query.prefix, query.start_after);
  ListPage page{.rows = {}, .revision = current_, .remaining = 0};
  Cursor row = list_latest_.use(range.from, range.to, one_over_limit(query.limit));
  TRY(const bool more, read_rows(row, query.limit, page.rows));
  if (!more) return page;
  const KeyRange rest = range_of(query.prefix, page.rows.back().key);
  Cursor counted = count_latest_.use(rest.from, rest.to);
  TRY([[maybe_unused]] const bool found, counted.next());
  page.remaining = counted.integer(0);
  return page;
}

Result<ListPage> Revisions::list_at(const ListQuery& query) {
  const KeyRange range = range_of(query.prefix, query.start_after);
  ListPage page{.rows = {}, .revision = *query.at, .remaining = 0};
  Cursor row = list_at_.use(range.from, range.to, page.revision, one_over_limit(query.limit));
  TRY(const bool more, read_rows(row, query.limit, page.rows));
  if (!more) return page;
  const KeyRange rest = range_of(query.prefix, page.rows.back().key);
  Cursor counted = count_at_.use(rest.from, rest.to, page.revision);
  TRY([[maybe_unused]] const bool found, counted.next());
  page.remaining = counted.integer(0);
  return page;
}

Result<std::vector<KeyEvent>> Revisions::events_since(std::string_view prefix,
                                                      std::int64_t revision, std::size_t limit) {
  if (auto readable = check_readable(revision); !readable) return fail(readable.error());
  const std::string end = end_of(prefix);
  const std::int64_t most = limit == 0 ? -1 : static_cast<std::int64_t>(limit);
  std::vector<KeyEvent> events;
  Cursor row = events_.use(revision, prefix, end, most);
  for (;;) {
    TRY(const bool found, row.next());
    if (!found) return events;
    events.push_back(read_event(row));
  }
}

}  // namespace holdfast::store
