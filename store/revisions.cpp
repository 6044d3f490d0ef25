#include "store/revisions.h"

#include <array>

#include "embedded/revisions_migrations.h"
#include "platform/check.h"

namespace holdfast::store {
namespace {

using Kind = KeyEvent::Kind;

std::string absent(std::string_view key) { return "key " + std::string(key); }

std::string mismatch(std::string_view key, std::int64_t is, std::int64_t expected) {
  const auto state = [](std::int64_t revision) {
    return revision == 0 ? std::string("absent") : "at revision " + std::to_string(revision);
  };
  return "key " + std::string(key) + " is " + state(is) + ", not " + state(expected);
}

}  // namespace

const Schema& revisions_schema() {
  static constexpr std::array migrations = {Migration{.compatible_from = 1,
                                                      .up = embedded::_0001_revisions_up_sql,
                                                      .down = embedded::_0001_revisions_down_sql}};
  static constexpr Schema schema{"revisions", migrations};
  return schema;
}

DatabaseOptions Revisions::usual_options() {
  return {.durability = Durability::relaxed, .access = Access::alone, .cache_kib = 4096};
}

Result<Revisions> Revisions::open(const std::filesystem::path& file,
                                  const DatabaseOptions& options) {
  TRY(Database database, Database::open(file, options));
  return open(std::move(database));
}

Result<Revisions> Revisions::open(Database database) {
  if (auto done = migrate(database, revisions_schema()); !done) return fail(done.error());
  Revisions revisions(std::move(database));
  if (auto done = revisions.load(); !done) return fail(done.error());
  return revisions;
}

Revisions::Revisions(Database database)
    : database_(std::move(database)),
      find_(database_.prepare("SELECT event.revision, event.create_revision FROM latest"
                              " JOIN event ON event.revision = latest.revision"
                              " WHERE latest.key = ?1")),
      insert_event_(database_.prepare(
          "INSERT INTO event (revision, kind, key, create_revision, previous, value)"
          " VALUES (?1, ?2, ?3, ?4, ?5, ?6)")),
      set_latest_(database_.prepare("INSERT INTO latest (key, revision) VALUES (?1, ?2)"
                                    " ON CONFLICT (key) DO UPDATE SET revision = ?2")),
      drop_latest_(database_.prepare("DELETE FROM latest WHERE key = ?1")),
      get_latest_(database_.prepare(
          "SELECT event.key, value, create_revision, event.revision FROM latest"
          " JOIN event ON event.revision = latest.revision WHERE latest.key = ?1")),
      get_at_(database_.prepare("SELECT key, value, create_revision, revision, kind FROM event"
                                " WHERE key = ?1 AND revision <= ?2"
                                " ORDER BY revision DESC LIMIT 1")),
      list_latest_(database_.prepare(
          "SELECT latest.key, value, create_revision, latest.revision FROM latest"
          " JOIN event ON event.revision = latest.revision"
          " WHERE latest.key >= ?1 AND latest.key < ?2 ORDER BY latest.key LIMIT ?3")),
      list_at_(database_.prepare(
          "SELECT key, value, create_revision, revision FROM event"
          " WHERE key >= ?1 AND key < ?2 AND revision <= ?3 AND kind = 0"
          " AND NOT EXISTS (SELECT 1 FROM event AS newer WHERE newer.key = event.key"
          "  AND newer.revision > event.revision AND newer.revision <= ?3)"
          " ORDER BY key LIMIT ?4")),
      count_latest_(database_.prepare("SELECT count(*) FROM latest WHERE key >= ?1 AND key < ?2")),
      count_at_(database_.prepare(
          "SELECT count(*) FROM event"
          " WHERE key >= ?1 AND key < ?2 AND revision <= ?3 AND kind = 0"
          " AND NOT EXISTS (SELECT 1 FROM event AS newer WHERE newer.key = event.key"
          "  AND newer.revision > event.revision AND newer.revision <= ?3)")),
      events_(database_.prepare(
          "SELECT event.kind, event.revision, event.create_revision, event.key, event.value,"
          " before.create_revision, before.revision, before.value FROM event"
          " LEFT JOIN event AS before ON before.revision = event.previous"
          " WHERE event.revision > ?1 AND +event.key >= ?2 AND +event.key < ?3"
          " ORDER BY event.revision LIMIT ?4")),
      forget_replaced_(
          database_.prepare("DELETE FROM event WHERE revision IN (SELECT previous FROM event"
                            " WHERE revision > ?1 AND revision <= ?2 AND previous > 0)")),
      forget_removed_(database_.prepare(
          "DELETE FROM event WHERE revision > ?1 AND revision <= ?2 AND kind = 1")),
      set_compacted_(database_.prepare("UPDATE progress SET compacted = ?1")) {}

Status Revisions::load() {
  Statement statement = database_.prepare(
      "SELECT compacted, (SELECT coalesce(max(revision), 0) FROM event) FROM progress");
  Cursor row = statement.use();
  TRY(const bool found, row.next());
  if (!found) return fail(Errc::corrupt, database_.name() + ": progress is empty");
  compacted_ = row.integer(0);
  // The newest event may be a delete that was compacted away.
  current_ = std::max(compacted_, row.integer(1));
  return {};
}

Status Revisions::begin() {
  CHECK(!group_);
  TRY(Transaction group, database_.begin());
  group_.emplace(std::move(group));
  group_failed_.reset();
  current_at_begin_ = current_;
  return {};
}

Status Revisions::commit() {
  CHECK(group_);
  Status done;
  if (group_failed_) {
    done = fail(*group_failed_);
  } else {
    done = group_->commit();
  }
  if (!done) current_ = current_at_begin_;
  group_.reset();
  return done;
}

void Revisions::roll_back() {
  CHECK(group_);
  group_.reset();
  current_ = current_at_begin_;
}

Result<std::int64_t> Revisions::put(std::string_view key, std::string_view value,
                                    std::optional<std::int64_t> expected) {
  return write({Kind::put, key, value, expected});
}

Result<std::int64_t> Revisions::remove(std::string_view key, std::optional<std::int64_t> expected) {
  return write({Kind::remove, key, {}, expected});
}

Result<std::int64_t> Revisions::write(const Write& wanted) {
  if (group_) return write_grouped(wanted);
  if (auto begun = begin(); !begun) return fail(begun.error());
  auto written = write_grouped(wanted);
  if (!written) {
    roll_back();
    return written;
  }
  if (auto done = commit(); !done) return fail(done.error());
  return written;
}

Result<std::int64_t> Revisions::write_grouped(const Write& wanted) {
  if (group_failed_) return fail(*group_failed_);
  auto written = write_event(wanted);
  if (written) return written;
  // Conflicts are detected before anything is written; any other error may have left half a write.
  const Errc code = written.error().code;
  if (code != Errc::conflict && code != Errc::not_found) group_failed_ = written.error();
  return written;
}

Result<Revisions::Place> Revisions::find(std::string_view key) {
  Cursor row = find_.use(key);
  TRY(const bool found, row.next());
  if (!found) return Place{};
  return Place{.revision = row.integer(0), .create_revision = row.integer(1)};
}

Result<std::int64_t> Revisions::write_event(const Write& wanted) {
  TRY(const Place before, find(wanted.key));
  const bool removes = wanted.kind == Kind::remove;
  if (removes && before.revision == 0) return fail(Errc::not_found, absent(wanted.key));
  if (wanted.expected && *wanted.expected != before.revision) {
    return fail(Errc::conflict, mismatch(wanted.key, before.revision, *wanted.expected));
  }
  const std::int64_t revision = current_ + 1;
  const std::int64_t created = before.revision == 0 ? revision : before.create_revision;
  const std::int64_t kind = removes ? 1 : 0;
  auto logged =
      insert_event_.use(revision, kind, wanted.key, created, before.revision, Blob{wanted.value})
          .run();
  if (!logged) return fail(logged.error());
  auto latest =
      removes ? drop_latest_.use(wanted.key).run() : set_latest_.use(wanted.key, revision).run();
  if (!latest) return fail(latest.error());
  return current_ = revision;
}

Status Revisions::compact(std::int64_t revision) {
  CHECK(!group_);
  if (revision > current_) return check_readable(revision);
  // Small transactions keep the log small.
  constexpr std::int64_t step = 2000;
  while (compacted_ < revision) {
    const std::int64_t to = std::min(revision, compacted_ + step);
    if (auto done = forget(compacted_, to); !done) return fail("compact", done.error());
    compacted_ = to;
  }
  return {};
}

Status Revisions::forget(std::int64_t from, std::int64_t to) {
  TRY(Transaction transaction, database_.begin());
  if (auto done = forget_replaced_.use(from, to).run(); !done) return done;
  if (auto done = forget_removed_.use(from, to).run(); !done) return done;
  if (auto done = set_compacted_.use(to).run(); !done) return done;
  return transaction.commit();
}

}  // namespace holdfast::store
