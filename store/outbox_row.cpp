#include "store/outbox_row.h"

#include "store/checksum.h"

namespace holdfast::store {
namespace {

std::int64_t checksum_of(const Write& write) {
  const ObjectKey& object = write.object;
  return checksum({object.group, object.version, object.resource, object.namespace_name,
                   object.name, object.subresource, write.verb, write.target, write.content_type,
                   write.precondition_uid, write.precondition_version, write.body});
}

}  // namespace

std::string select_entry(std::string_view rest) {
  std::string sql =
      "SELECT id, place, api_group, api_version, resource, namespace, name, subresource, verb,"
      " target, content_type, body, precondition_uid, precondition_version, created_wall, urgency,"
      " journalled, sending, maybe_sent, attempts, checksum FROM entry";
  sql += rest;
  return sql;
}

Entry read_entry(const Cursor& row) {
  Entry entry{.id = EntryId{row.integer(0)},
              .write = {.object = {.group = std::string(row.text(2)),
                                   .version = std::string(row.text(3)),
                                   .resource = std::string(row.text(4)),
                                   .namespace_name = std::string(row.text(5)),
                                   .name = std::string(row.text(6)),
                                   .subresource = std::string(row.text(7))},
                        .verb = std::string(row.text(8)),
                        .target = std::string(row.text(9)),
                        .content_type = std::string(row.text(10)),
                        .body = std::string(row.blob(11)),
                        .precondition_uid = std::string(row.text(12)),
                        .precondition_version = std::string(row.text(13)),
                        .created = WallTime(Duration(row.integer(14))),
                        .urgency = static_cast<int>(row.integer(15)),
                        .journalled = row.integer(16) != 0},
              .sending = row.integer(17) != 0,
              .maybe_sent = row.integer(18) != 0,
              .attempts = static_cast<int>(row.integer(19))};
  entry.damaged = checksum_of(entry.write) != row.integer(20);
  return entry;
}

std::int64_t place_of(const Cursor& row) { return row.integer(1); }

Statement prepare_insert_entry(Database& database) {
  // The end of the queue is the place with the number of the next id.
  return database.prepare(
      "INSERT INTO entry (id, place, api_group, api_version, resource, namespace, name,"
      " subresource, verb, target, content_type, body, precondition_uid, precondition_version,"
      " created_wall, urgency, journalled, sending, maybe_sent, attempts, bytes, checksum)"
      " VALUES (?1,"
      " coalesce(?2, ?1, 1 + (SELECT coalesce(max(seq), 0) FROM sqlite_sequence"
      "  WHERE name = 'entry')),"
      " ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, 0, ?18, ?19, ?20,"
      " ?21)");
}

Status insert_entry(Statement& insert, const Write& write, const EntryState& state) {
  const ObjectKey& object = write.object;
  const std::int64_t created = write.created.time_since_epoch().count();
  const std::int64_t urgency = write.urgency;
  const std::int64_t journalled = write.journalled ? 1 : 0;
  const std::int64_t maybe_sent = state.maybe_sent ? 1 : 0;
  const std::int64_t attempts = state.attempts;
  return insert
      .use(state.id, state.place, object.group, object.version, object.resource,
           object.namespace_name, object.name, object.subresource, write.verb, write.target,
           write.content_type, Blob{write.body}, write.precondition_uid, write.precondition_version,
           created, urgency, journalled, maybe_sent, attempts, counted_bytes(write),
           checksum_of(write))
      .run();
}

std::int64_t counted_bytes(const Write& write) {
  const ObjectKey& object = write.object;
  std::size_t sum = write.body.size();
  for (const std::string* text :
       {&object.group, &object.version, &object.resource, &object.namespace_name, &object.name,
        &object.subresource, &write.verb, &write.target, &write.content_type,
        &write.precondition_uid, &write.precondition_version}) {
    sum += text->size();
  }
  return static_cast<std::int64_t>(sum);
}

}  // namespace holdfast::store
