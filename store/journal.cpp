#include "store/journal.h"

#include "platform/check.h"

namespace holdfast::store {

Journal::Journal(Database& database, JournalLimits limits)
    : database_(database),
      limits_(limits),
      append_(database.prepare("INSERT INTO record (at_wall, kind, subject, what, detail, entry)"
                               " VALUES (?1, ?2, ?3, ?4, ?5, ?6)")),
      cap_(database.prepare("DELETE FROM record WHERE seq <= ?1")),
      read_(database.prepare("SELECT seq, at_wall, kind, subject, what, detail, entry FROM record"
                             " WHERE seq >= ?1 AND (?2 = '' OR subject = ?2)"
                             " ORDER BY seq LIMIT ?3")),
      newest_(database.prepare("SELECT coalesce(max(seq), 0) FROM record")) {
  CHECK(limits.rows > 0);
}

Result<std::int64_t> Journal::append(const Transaction&, const Record& record) {
  std::string_view detail = record.detail;
  std::string cut;
  if (detail.size() > limits_.detail_bytes) {
    cut = "{\"cut\":" + std::to_string(detail.size()) + "}";
    detail = cut;
  }
  const std::int64_t at = record.at.time_since_epoch().count();
  auto written =
      append_.use(at, record.kind, record.subject, record.what, detail, record.entry).run();
  if (!written) return fail("journal", written.error());
  const std::int64_t seq = database_.last_insert_id();
  if (auto capped = cap_.use(seq - limits_.rows).run(); !capped) {
    return fail("journal", capped.error());
  }
  return seq;
}

Result<std::vector<Record>> Journal::read(const JournalQuery& query) {
  std::vector<Record> records;
  Cursor row = read_.use(query.from, query.subject, static_cast<std::int64_t>(query.limit));
  for (;;) {
    TRY(const bool more, row.next());
    if (!more) return records;
    records.push_back({.seq = row.integer(0),
                       .at = WallTime(Duration(row.integer(1))),
                       .kind = std::string(row.text(2)),
                       .subject = std::string(row.text(3)),
                       .what = std::string(row.text(4)),
                       .detail = std::string(row.text(5)),
                       .entry = row.integer(6)});
  }
}

Result<std::int64_t> Journal::newest() {
  Cursor row = newest_.use();
  TRY([[maybe_unused]] const bool found, row.next());
  return row.integer(0);
}

}  // namespace holdfast::store
