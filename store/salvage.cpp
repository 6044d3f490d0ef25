#include "store/salvage.h"

#include <optional>
#include <set>

#include "store/outbox_row.h"

namespace holdfast::store {
namespace {

// One pass over the damaged table, copying into the new one.
class Pass {
 public:
  Pass(Database& from, Statement& insert, Salvaged& salvaged)
      : from_(from), insert_(insert), salvaged_(salvaged) {}

  // Returns true at the end of the table, false at a damaged place or at an entry that was read
  // before. Errors: those of writing.
  [[nodiscard]] Result<bool> run(const char* order) {
    Statement all = from_.prepare(select_entry(order));
    Cursor row = all.use();
    for (;;) {
      const auto more = row.next();
      if (!more) return false;
      if (!*more) return true;
      const Entry entry = read_entry(row);
      if (!seen_.insert(entry.id).second) return false;
      if (auto done = carry(entry, place_of(row)); !done) return fail(done.error());
    }
  }

 private:
  [[nodiscard]] Status carry(const Entry& entry, std::int64_t place) {
    if (entry.damaged) {
      ++salvaged_.refused;
      return {};
    }
    const EntryState state{.id = static_cast<std::int64_t>(entry.id),
                           .place = place,
                           .maybe_sent = entry.sending || entry.maybe_sent,
                           .attempts = entry.attempts};
    auto written = insert_entry(insert_, entry.write, state);
    if (!written && written.error().code != Errc::conflict) return written;
    ++(written ? salvaged_.entries : salvaged_.refused);
    return {};
  }

  Database& from_;
  Statement& insert_;
  Salvaged& salvaged_;
  std::set<EntryId> seen_;
};

}  // namespace

Result<Salvaged> salvage_outbox(const std::filesystem::path& damaged, Database& fresh) {
  Salvaged salvaged;
  auto from = Database::open(damaged, {.access = Access::read_only});
  if (!from) return salvaged;
  TRY(Transaction transaction, fresh.begin(Durability::full));
  Statement insert = prepare_insert_entry(fresh);
  Pass pass(*from, insert, salvaged);
  TRY(salvaged.whole, pass.run(" ORDER BY id"));
  if (!salvaged.whole) {
    TRY([[maybe_unused]] const bool reached, pass.run(" ORDER BY id DESC"));
  }
  if (auto done = transaction.commit(); !done) return fail("salvage", done.error());
  return salvaged;
}

}  // namespace holdfast::store
