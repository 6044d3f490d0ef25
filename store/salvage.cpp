#include "store/salvage.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "store/checksum.h"
#include "store/outbox_row.h"

namespace holdfast::store {
namespace {

// A file has fewer rows in its life. A larger rowid is damaged; copied, it would leave no number
// for the rows that follow.
constexpr std::int64_t rowid_max = std::int64_t{1} << 48;

bool is_rowid(std::int64_t number) { return number > 0 && number <= rowid_max; }

// The rows of a damaged table.
class DamagedTable {
 public:
  // `select` is a statement up to its FROM clause, whose first column is the rowid, called `id`.
  DamagedTable(Database& from, std::string select, std::string id)
      : from_(from), select_(std::move(select)), id_(std::move(id)) {}

  // Calls `carry` for each readable row. Returns whether all rows could be read. Errors: those of
  // `carry`.
  using Carry = std::function<Status(const Cursor&)>;
  [[nodiscard]] Result<bool> read(const Carry& carry) {
    TRY(const Pass rising, pass(" ORDER BY " + id_, carry, std::nullopt));
    if (rising.reached_end) return true;
    const std::int64_t low = rising.last.value_or(0);
    TRY(const Pass falling, pass(" ORDER BY " + id_ + " DESC", carry, low));
    const std::int64_t high = std::min(falling.last.value_or(low + between_max), low + between_max);
    Statement one = from_.prepare(select_ + " WHERE " + id_ + " = ?1");
    for (std::int64_t id = low + 1; id < high; ++id) {
      Cursor row = one.use(id);
      if (!row.next().value_or(false)) continue;
      if (auto carried = carry(row); !carried) return fail(carried.error());
    }
    return false;
  }

 private:
  // The most rowids that are tried one by one. The outbox has up to 10,000 entries.
  static constexpr std::int64_t between_max = 20'000;

  struct Pass {
    bool reached_end = false;
    std::optional<std::int64_t> last;  // the last rowid that was read
  };

  // Reads rows in this order up to a damaged place or, if they fall, up to `end`.
  [[nodiscard]] Result<Pass> pass(const std::string& order, const Carry& carry,
                                  std::optional<std::int64_t> end) {
    Pass done;
    Statement all = from_.prepare(select_ + order);
    Cursor row = all.use();
    for (;;) {
      const auto more = row.next();
      if (!more) return done;
      done.reached_end = !*more;
      if (done.reached_end) return done;
      const std::int64_t id = row.integer(0);
      if (!is_rowid(id)) return done;
      // A damaged page may lead back to rows that were read.
      const bool repeats = done.last && (end ? id >= *done.last : id <= *done.last);
      if (repeats || (end && id <= *end)) return done;
      if (auto carried = carry(row); !carried) return fail(carried.error());
      done.last = id;
    }
  }

  Database& from_;
  std::string select_;
  std::string id_;
};

Status carry_entry(const Cursor& row, Statement& insert, Salvaged& salvaged) {
  const Entry entry = read_entry(row);
  if (entry.damaged || !is_rowid(place_of(row))) {
    ++salvaged.refused;
    return {};
  }
  const EntryState state{.id = static_cast<std::int64_t>(entry.id),
                         .place = place_of(row),
                         .maybe_sent = entry.sending || entry.maybe_sent,
                         .attempts = entry.attempts};
  auto written = insert_entry(insert, entry.write, state);
  if (!written && written.error().code != Errc::conflict) return written;
  ++(written ? salvaged.entries : salvaged.refused);
  return {};
}

Status carry_answer(const Cursor& row, Statement& insert, Salvaged& salvaged) {
  const std::string_view bytes = row.blob(7);
  if (checksum(bytes, row.integer(9)) != row.integer(6)) {
    ++salvaged.refused;
    return {};
  }
  const std::optional<std::int64_t> expires =
      row.is_null(5) ? std::nullopt : std::optional(row.integer(5));
  auto written = insert
                     .use(row.text(1), row.text(2), row.integer(3), row.text(4), expires,
                          row.integer(6), Blob{bytes}, row.integer(8), row.integer(9))
                     .run();
  if (!written && written.error().code != Errc::conflict) return written;
  ++(written ? salvaged.entries : salvaged.refused);
  return {};
}

// There are few of them, on one page.
Status carry_counters(Database& from, Database& fresh) {
  Statement all = from.prepare("SELECT name, value FROM counter");
  Statement insert = fresh.prepare("INSERT OR REPLACE INTO counter (name, value) VALUES (?1, ?2)");
  Cursor row = all.use();
  while (row.next().value_or(false)) {
    if (auto written = insert.use(row.text(0), row.integer(1)).run(); !written) return written;
  }
  return {};
}

}  // namespace

Result<Salvaged> salvage_outbox(const std::filesystem::path& damaged, Database& fresh) {
  Salvaged salvaged;
  auto from = Database::open(damaged, {.access = Access::read_only});
  if (!from) return salvaged;
  TRY(Transaction transaction, fresh.begin(Durability::full));
  Statement insert = prepare_insert_entry(fresh);
  DamagedTable table(*from, select_entry(""), "id");
  TRY(salvaged.whole, table.read([&insert, &salvaged](const Cursor& row) {
    return carry_entry(row, insert, salvaged);
  }));
  if (auto done = transaction.commit(); !done) return fail("salvage", done.error());
  return salvaged;
}

Result<Salvaged> salvage_answers(const std::filesystem::path& damaged, Database& fresh) {
  Salvaged salvaged;
  auto from = Database::open(damaged, {.access = Access::read_only});
  if (!from) return salvaged;
  TRY(Transaction transaction, fresh.begin(Durability::full));
  if (auto carried = carry_counters(*from, fresh); !carried) return fail(carried.error());
  Statement insert = fresh.prepare(
      "INSERT INTO answer (owner, key, status, content_type, expires_wall, checksum, bytes, sealed,"
      " packed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
  DamagedTable table(*from,
                     "SELECT rowid, owner, key, status, content_type, expires_wall, checksum,"
                     " bytes, sealed, packed FROM answer",
                     "rowid");
  TRY(salvaged.whole, table.read([&insert, &salvaged](const Cursor& row) {
    return carry_answer(row, insert, salvaged);
  }));
  if (auto done = transaction.commit(); !done) return fail("salvage", done.error());
  return salvaged;
}

}  // namespace holdfast::store
