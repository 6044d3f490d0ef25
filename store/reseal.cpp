#include "store/reseal.h"

#include <vector>

#include "platform/check.h"
#include "store/cache.h"
#include "store/checksum.h"

namespace holdfast::store {
namespace {

struct Row {
  std::int64_t id = 0;
  std::string seal_name;
  std::string old_seal_name;         // of schema 2; "" if it is the same
  std::string message_name;          // for errors
  std::vector<std::string> checked;  // columns that the checksum covers, besides the bytes
  std::string bytes;
  bool sealed = false;
  std::int64_t packed = 0;
};

// What to do, and with which seals.
struct Task {
  const Seal* from = nullptr;  // null: sealed rows are not changed
  const Sealing& to;
  bool takes_old_names = false;
  bool skips_what_does_not_open = false;
};

Result<std::string> opened(const Row& row, const Task& task) {
  auto plain = open_sealed(task.from, row.bytes, row.seal_name);
  if (plain || !task.takes_old_names || row.old_seal_name.empty()) return plain;
  auto by_old_name = open_sealed(task.from, row.bytes, row.old_seal_name);
  return by_old_name ? by_old_name : plain;
}

// The new bytes of a row, or nothing if it is not changed.
Result<std::optional<std::string>> renewed(const Row& row, const Task& task) {
  if (!row.sealed) return task.to.seal->seal(row.bytes, row.seal_name);
  if (task.from == nullptr) return std::nullopt;
  const auto plain = opened(row, task);
  if (!plain && task.skips_what_does_not_open) return std::nullopt;
  if (!plain) return fail(row.message_name, plain.error());
  std::string sealed = task.to.seal->seal(*plain, row.seal_name);
  if (sealed == row.bytes) return std::nullopt;
  return sealed;
}

std::int64_t checksum_of(const Row& row, const std::string& bytes) {
  if (row.checked.empty()) return checksum(bytes, row.packed);
  CHECK(row.checked.size() == 4);
  return checksum({row.checked[0], row.checked[1], row.checked[2], row.checked[3], bytes},
                  row.packed);
}

// Writes the changed rows; returns their number.
Result<std::int64_t> write(Statement& update, const std::vector<Row>& rows, const Task& task) {
  std::int64_t count = 0;
  for (const Row& row : rows) {
    TRY(const std::optional<std::string> bytes, renewed(row, task));
    if (!bytes) continue;
    auto done = update.use(row.id, checksum_of(row, *bytes), Blob{*bytes}).run();
    if (!done) return fail(done.error());
    ++count;
  }
  return count;
}

// The rows of one scope that are sealed or should be.
Result<std::vector<Row>> object_rows(Statement& select, const Scope& scope, bool wanted) {
  std::vector<Row> rows;
  Cursor at = select.use(static_cast<std::int64_t>(scope.id), std::int64_t{wanted ? 1 : 0});
  for (;;) {
    TRY(const bool more, at.next());
    if (!more) return rows;
    Row row{.id = at.integer(0), .sealed = at.integer(7) != 0, .packed = at.integer(8)};
    for (int column = 1; column <= 4; ++column) row.checked.emplace_back(at.text(column));
    const SealedObject object{row.checked[0], row.checked[1], row.checked[2], row.checked[3],
                              row.packed};
    row.seal_name = object_seal_name(scope.key, object);
    row.old_seal_name = old_object_seal_name(object);
    row.message_name = scope.key.resource + " " + row.checked[0] + "/" + row.checked[1];
    row.bytes = at.blob(6);
    if (checksum_of(row, row.bytes) != at.integer(5)) {
      return fail(Errc::corrupt, row.message_name + " fails its checksum");
    }
    rows.push_back(std::move(row));
  }
}

Result<std::vector<Row>> answer_rows(Statement& select, const Sealing& to) {
  std::vector<Row> rows;
  Cursor at = select.use();
  for (;;) {
    TRY(const bool more, at.next());
    if (!more) return rows;
    const std::string_view key = at.text(2);
    Row row{.id = at.integer(0),
            .seal_name = answer_seal_name(at.text(1), key, at.integer(6)),
            .message_name = "answer " + std::string(key.substr(0, key.find(' '))),
            .bytes = std::string(at.blob(4)),
            .sealed = at.integer(5) != 0,
            .packed = at.integer(6)};
    const bool wanted = row.sealed || (to.answers_to && to.answers_to(key));
    if (!wanted) continue;
    if (checksum_of(row, row.bytes) != at.integer(3)) {
      return fail(Errc::corrupt, row.message_name + " fails its checksum");
    }
    rows.push_back(std::move(row));
  }
}

Result<Resealed> reseal_all(Database& database, const Task& task) {
  Resealed count;
  Cache cache(database);
  Statement objects = database.prepare(
      "SELECT rowid, namespace, name, uid, resource_version, checksum, bytes, sealed, packed"
      " FROM object WHERE scope = ?1 AND (sealed = 1 OR ?2 = 1) ORDER BY rowid");
  Statement update_object =
      database.prepare("UPDATE object SET checksum = ?2, bytes = ?3, sealed = 1 WHERE rowid = ?1");
  TRY(const std::vector<Scope> scopes, cache.scopes());
  for (const Scope& scope : scopes) {
    const bool wanted = task.to.objects_of && task.to.objects_of(scope.key);
    TRY(const std::vector<Row> rows, object_rows(objects, scope, wanted));
    TRY(const std::int64_t written, write(update_object, rows, task));
    count.objects += written;
  }
  Statement answers = database.prepare(
      "SELECT rowid, owner, key, checksum, bytes, sealed, packed FROM answer ORDER BY rowid");
  Statement update_answer =
      database.prepare("UPDATE answer SET checksum = ?2, bytes = ?3, sealed = 1 WHERE rowid = ?1");
  TRY(const std::vector<Row> rows, answer_rows(answers, task.to));
  TRY(count.answers, write(update_answer, rows, task));
  return count;
}

Result<bool> is_complete(Database& database) {
  Statement find = database.prepare("SELECT complete FROM sealing");
  Cursor row = find.use();
  return row.next();
}

// Empties the log, which still has the old pages. If another connection prevents that, SQLite
// reports it in a row, not as an error.
Status empty_log(Database& database) {
  Statement checkpoint = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
  Cursor row = checkpoint.use();
  TRY(const bool told, row.next());
  if (told && row.integer(0) == 0) return {};
  return fail(Errc::conflict, database.name() +
                                  ": its rows are sealed, but another process has it open and "
                                  "keeps the old bytes in its log");
}

Result<Resealed> perform(Database& database, const Task& task) {
  if (auto set = database.execute("PRAGMA secure_delete = ON"); !set) return fail(set.error());
  TRY(Transaction transaction, database.begin(Durability::full));
  TRY(const Resealed count, reseal_all(database, task));
  if (auto committed = transaction.commit(); !committed) return fail(committed.error());
  if (auto emptied = empty_log(database); !emptied) return fail(emptied.error());
  // Set this mark only now that everything is done: seal_once() repeats the work after a conflict
  // or a crash.
  const Status marked =
      database.execute("INSERT INTO sealing (complete) VALUES (1) ON CONFLICT DO NOTHING");
  if (!marked) return fail(marked.error());
  return count;
}

}  // namespace

Result<Resealed> reseal(Database& database, const Seal* from, const Sealing& to) {
  CHECK(to.seal != nullptr);
  TRY(const bool complete, is_complete(database));
  return perform(database, {.from = from, .to = to, .takes_old_names = !complete});
}

Result<Resealed> seal_once(Database& database, const Sealing& to) {
  CHECK(to.seal != nullptr);
  TRY(const bool complete, is_complete(database));
  if (complete) return Resealed{};
  return perform(
      database,
      {.from = to.seal, .to = to, .takes_old_names = true, .skips_what_does_not_open = true});
}

}  // namespace holdfast::store
