#include "store/outbox.h"

#include <algorithm>
#include <array>

#include "embedded/outbox_migrations.h"
#include "store/outbox_row.h"

namespace holdfast::store {
namespace {

std::int64_t number(EntryId id) { return static_cast<std::int64_t>(id); }

std::string_view word(Outcome outcome) {
  switch (outcome) {
    case Outcome::applied:
      return "write-applied";
    case Outcome::conflict:
      return "write-conflict";
    case Outcome::rejected:
      return "write-rejected";
    case Outcome::damaged:
      return "write-damaged";
    case Outcome::superseded:
      return "write-superseded";
    case Outcome::dropped:
      return "write-dropped";
    case Outcome::expired:
      return "write-expired";
  }
  return "write-ended";
}

std::string naming(EntryId id) { return "outbox entry " + std::to_string(number(id)); }

Result<std::vector<Entry>> read_entries(Cursor& row) {
  std::vector<Entry> entries;
  for (;;) {
    TRY(const bool more, row.next());
    if (!more) return entries;
    entries.push_back(read_entry(row));
  }
}

const std::string same_object = "api_group = ?1 AND resource = ?2 AND namespace = ?3 AND name = ?4";

// True for entries whose object has no older entry in the queue.
const std::string is_first_of_its_object =
    "NOT EXISTS (SELECT 1 FROM entry AS older WHERE older.api_group = entry.api_group"
    " AND older.resource = entry.resource AND older.namespace = entry.namespace"
    " AND older.name = entry.name AND older.place < entry.place)";

}  // namespace

const Schema& outbox_schema() {
  static constexpr std::array migrations = {Migration{.compatible_from = 1,
                                                      .up = embedded::_0001_outbox_up_sql,
                                                      .down = embedded::_0001_outbox_down_sql}};
  static constexpr Schema schema{"outbox", migrations};
  return schema;
}

std::string subject_of(const ObjectKey& object) {
  const std::string space = object.namespace_name.empty() ? "" : object.namespace_name + "/";
  return object.resource + "/" + space + object.name;
}

Outbox::Outbox(Database& database, Journal& journal, OutboxLimits limits)
    : database_(database),
      journal_(journal),
      limits_(limits),
      insert_(prepare_insert_entry(database)),
      find_(database.prepare(select_entry(" WHERE id = ?1"))),
      superseded_(
          database.prepare(select_entry(" WHERE " + same_object +
                                        " AND api_version = ?5 AND subresource = ?6 AND verb = ?7"
                                        " AND sending = 0 AND maybe_sent = 0"
                                        " ORDER BY place DESC LIMIT 1"))),
      sendable_(
          database.prepare(select_entry(" WHERE sending = 0 AND place > ?1 AND " +
                                        is_first_of_its_object + " ORDER BY place LIMIT ?2"))),
      pending_(database.prepare(select_entry(" WHERE " + same_object + " ORDER BY place"))),
      list_(database.prepare(select_entry(" ORDER BY place LIMIT ?1"))),
      mark_(database.prepare("UPDATE entry SET sending = 1, attempts = attempts + 1"
                             " WHERE id = ?1 AND sending = 0 AND " +
                             is_first_of_its_object)),
      requeue_(database.prepare(
          "UPDATE entry SET sending = 0, maybe_sent = max(maybe_sent, ?2) WHERE id = ?1")),
      remove_(database.prepare("DELETE FROM entry WHERE id = ?1")),
      ids_(database.prepare("SELECT id FROM entry")),
      size_(database.prepare("SELECT count(*), coalesce(sum(bytes), 0) FROM entry")),
      droppable_size_(database.prepare("SELECT count(*), coalesce(sum(bytes), 0) FROM entry"
                                       " WHERE urgency >= ?1 AND sending = 0 AND id <> ?2")),
      droppable_(database.prepare(
          select_entry(" WHERE urgency >= ?1 AND sending = 0 ORDER BY place LIMIT 1"))),
      interrupted_(
          database.prepare("UPDATE entry SET sending = 0, maybe_sent = 1 WHERE sending = 1")) {}

Result<Outbox> Outbox::open(Database& database, Journal& journal, OutboxLimits limits) {
  Outbox outbox(database, journal, limits);
  if (!database.writable()) return outbox;
  if (auto done = outbox.give_up_attempts(); !done) return fail("outbox", done.error());
  return outbox;
}

Status Outbox::give_up_attempts() {
  TRY(Transaction transaction, database_.begin());
  if (auto done = interrupted_.use().run(); !done) return done;
  return transaction.commit();
}

// --------------------------------------------------------------------------------------- adding

Result<Added> Outbox::add(const Transaction& in, const Write& write, Coalesce coalesce) {
  std::optional<Predecessor> predecessor;
  if (coalesce == Coalesce::replace) {
    TRY(predecessor, find_predecessor(write));
  }
  Added added;
  TRY(const OutboxSize now, size());
  OutboxSize missing{now.entries + 1 - limits_.entries,
                     now.bytes + counted_bytes(write) - limits_.bytes};
  if (predecessor) {
    added.superseded = predecessor->entry.id;
    missing.entries -= 1;
    missing.bytes -= counted_bytes(predecessor->entry.write);
  }
  TRY(const bool fits, can_make_room(missing, added.superseded));
  if (!fits) return fail(Errc::exhausted, "the outbox is full");

  if (predecessor) {
    auto done = finish(in, predecessor->entry, Outcome::superseded, write.created, "");
    if (!done) return fail(done.error());
  }
  TRY(added.dropped, drop(in, missing, write.created));
  TRY(added.id, insert(write, predecessor ? predecessor->place : std::nullopt));
  if (auto done = record(in, added.id, write, {"write-accepted", write.created, ""}); !done) {
    return fail(done.error());
  }
  return added;
}

Result<std::optional<Outbox::Predecessor>> Outbox::find_predecessor(const Write& write) {
  const ObjectKey& object = write.object;
  std::optional<Predecessor> found;
  std::int64_t place = 0;
  {
    Cursor row = superseded_.use(object.group, object.resource, object.namespace_name, object.name,
                                 object.version, object.subresource, write.verb);
    TRY(const bool any, row.next());
    if (!any) return std::nullopt;
    found = Predecessor{read_entry(row), std::nullopt};
    place = place_of(row);
  }
  // The new write may take the old one's place only if it does not overtake another write to the
  // object.
  TRY(const std::vector<Entry> of_object, pending(object));
  if (of_object.back().id == found->entry.id) found->place = place;
  return found;
}

Result<bool> Outbox::can_make_room(OutboxSize missing, const std::optional<EntryId>& but) {
  if (missing.entries <= 0 && missing.bytes <= 0) return true;
  const std::int64_t from = limits_.droppable_from;
  Cursor row = droppable_size_.use(from, number(but.value_or(EntryId{})));
  TRY([[maybe_unused]] const bool found, row.next());
  return row.integer(0) >= missing.entries && row.integer(1) >= missing.bytes;
}

Result<std::vector<EntryId>> Outbox::drop(const Transaction& in, OutboxSize missing, WallTime now) {
  std::vector<EntryId> dropped;
  while (missing.entries > 0 || missing.bytes > 0) {
    const std::int64_t from = limits_.droppable_from;
    Entry oldest;
    {
      Cursor row = droppable_.use(from);
      TRY(const bool found, row.next());
      if (!found) return fail(Errc::exhausted, "the outbox is full");
      oldest = read_entry(row);
    }
    if (auto done = finish(in, oldest, Outcome::dropped, now, ""); !done) {
      return fail(done.error());
    }
    dropped.push_back(oldest.id);
    missing.entries -= 1;
    missing.bytes -= counted_bytes(oldest.write);
  }
  return dropped;
}

Result<EntryId> Outbox::insert(const Write& write, std::optional<std::int64_t> place) {
  if (auto done = insert_entry(insert_, write, {.place = place}); !done) return fail(done.error());
  counted_.entries += 1;
  counted_.bytes += counted_bytes(write);
  return EntryId{database_.last_insert_id()};
}

// -------------------------------------------------------------------------------------- sending

Result<Outbox::Page> Outbox::sendable(std::int64_t after, std::size_t limit) {
  Page page;
  Cursor row = sendable_.use(after, static_cast<std::int64_t>(limit));
  std::int64_t last = 0;
  for (;;) {
    TRY(const bool more, row.next());
    if (!more) break;
    page.entries.push_back(read_entry(row));
    last = place_of(row);
  }
  if (page.entries.size() == limit) page.after = last;
  return page;
}

Status Outbox::mark_sending(const Transaction&, EntryId id) {
  if (auto done = mark_.use(number(id)).run(); !done) return done;
  if (database_.changes() > 0) return {};
  TRY(const Entry entry, find(id));
  if (entry.sending) return fail(Errc::conflict, naming(id) + " is being sent already");
  return fail(Errc::conflict, naming(id) + " must wait for an older one of its object");
}

Status Outbox::requeue(const Transaction&, EntryId id, Attempt attempt) {
  const std::int64_t maybe = attempt == Attempt::maybe_sent ? 1 : 0;
  if (auto done = requeue_.use(number(id), maybe).run(); !done) return done;
  if (database_.changes() == 0) return fail(Errc::not_found, naming(id));
  return {};
}

Status Outbox::settle(const Transaction& in, EntryId id, Outcome outcome, WallTime now,
                      std::string_view detail) {
  TRY(const Entry entry, find(id));
  return finish(in, entry, outcome, now, detail);
}

Status Outbox::finish(const Transaction& in, const Entry& entry, Outcome outcome, WallTime now,
                      std::string_view detail) {
  if (auto done = remove_.use(number(entry.id)).run(); !done) return done;
  counted_.entries -= 1;
  counted_.bytes -= counted_bytes(entry.write);
  return record(in, entry.id, entry.write, {word(outcome), now, detail});
}

Status Outbox::record(const Transaction& in, EntryId id, const Write& write, const Fact& fact) {
  if (!write.journalled) return {};
  const Record told{.at = fact.at,
                    .kind = std::string(fact.kind),
                    .subject = subject_of(write.object),
                    .what = write.verb + " " + write.target,
                    .detail = std::string(fact.detail),
                    .entry = number(id)};
  TRY([[maybe_unused]] const auto seq, journal_.append(in, told));
  return {};
}

// -------------------------------------------------------------------------------------- looking

Result<Entry> Outbox::find(EntryId id) {
  Cursor row = find_.use(number(id));
  TRY(const bool found, row.next());
  if (!found) return fail(Errc::not_found, naming(id));
  return read_entry(row);
}

Result<std::set<EntryId>> Outbox::ids() {
  std::set<EntryId> found;
  Cursor row = ids_.use();
  for (;;) {
    TRY(const bool more, row.next());
    if (!more) return found;
    found.insert(EntryId{row.integer(0)});
  }
}

Result<std::vector<Entry>> Outbox::pending(const ObjectKey& object) {
  Cursor row = pending_.use(object.group, object.resource, object.namespace_name, object.name);
  return read_entries(row);
}

Result<std::vector<Entry>> Outbox::list(std::size_t limit) {
  Cursor row = list_.use(static_cast<std::int64_t>(limit));
  return read_entries(row);
}

Result<OutboxSize> Outbox::size() {
  if (counted_at_ == database_.rollbacks()) return counted_;
  Cursor row = size_.use();
  TRY([[maybe_unused]] const bool found, row.next());
  counted_ = {row.integer(0), row.integer(1)};
  counted_at_ = database_.rollbacks();
  return counted_;
}

}  // namespace holdfast::store
