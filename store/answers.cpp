#include "store/answers.h"

#include "store/checksum.h"
#include "store/pack.h"

namespace holdfast::store {
namespace {

std::optional<std::int64_t> nanoseconds(const std::optional<WallTime>& time) {
  if (!time) return std::nullopt;
  return time->time_since_epoch().count();
}

}  // namespace

Answers::Answers(Database& database, AnswerLimits limits, Sealing sealing)
    : sealing_(std::move(sealing)),
      limits_(limits),
      database_(database),
      put_(database.prepare(
          "INSERT INTO answer (owner, key, status, content_type, expires_wall, checksum, bytes,"
          " sealed, packed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
          " ON CONFLICT (owner, key) DO UPDATE SET status = ?3, content_type = ?4,"
          " expires_wall = ?5, checksum = ?6, bytes = ?7, sealed = ?8, packed = ?9"
          " WHERE bytes <> ?7 OR status <> ?3 OR content_type <> ?4 OR expires_wall IS NOT ?5"
          " OR sealed <> ?8 OR packed <> ?9")),
      find_(database.prepare("SELECT status, content_type, expires_wall, checksum, bytes, sealed,"
                             " packed FROM answer WHERE owner = ?1 AND key = ?2")),
      remove_(database.prepare("DELETE FROM answer WHERE owner = ?1 AND key = ?2")),
      remove_expired_(
          database.prepare("DELETE FROM answer WHERE expires_wall < ?1 AND owner <> ?2")),
      // length() of a TEXT value counts characters, so the key is cast to BLOB.
      size_(database.prepare(
          "SELECT count(*), coalesce(sum(length(bytes) + length(CAST(key AS BLOB))), 0),"
          " coalesce(sum(owner = ?1), 0),"
          " coalesce(sum((length(bytes) + length(CAST(key AS BLOB))) * (owner = ?1)), 0)"
          " FROM answer WHERE owner <> ?1 OR key <> ?2")),
      rows_(database.prepare(
          "SELECT owner, key, length(bytes) + length(CAST(key AS BLOB)), expires_wall FROM answer"
          " WHERE owner <> ?1 OR key <> ?2 ORDER BY rowid")),
      keys_(database.prepare("SELECT key FROM answer WHERE owner = ?1"
                             " AND substr(key, 1, ?3) = ?2 ORDER BY key")) {}

Result<std::vector<std::string>> Answers::keys(std::string_view owner, std::string_view prefix) {
  std::vector<std::string> found;
  Cursor row = keys_.use(owner, prefix, static_cast<std::int64_t>(prefix.size()));
  for (;;) {
    TRY(const bool more, row.next());
    if (!more) return found;
    found.emplace_back(row.text(0));
  }
}

void Answers::note_use(std::string_view owner, std::string_view key) {
  // Entries of expired rows stay in the map until it is cleared. Losing the time of a use is
  // harmless.
  if (used_.size() > 2 * static_cast<std::size_t>(limits_.rows)) used_.clear();
  used_[{std::string(owner), std::string(key)}] = ++uses_;
}

Result<std::vector<Answers::Row>> Answers::others(const Name& name) {
  std::vector<Row> found;
  Cursor row = rows_.use(name.first, name.second);
  for (;;) {
    TRY(const bool more, row.next());
    if (!more) return found;
    Row read{.name = {std::string(row.text(0)), std::string(row.text(1))}, .bytes = row.integer(2)};
    if (!row.is_null(3)) read.expires = row.integer(3);
    const auto used = used_.find(read.name);
    if (used != used_.end()) read.used = used->second;
    found.push_back(std::move(read));
  }
}

namespace {

// The number and size of some rows.
struct Amount {
  std::int64_t rows = 0;
  std::int64_t bytes = 0;

  void add(std::int64_t more) {
    ++rows;
    bytes += more;
  }
  [[nodiscard]] bool exceeds(std::int64_t rows_max, std::int64_t bytes_max) const {
    return rows > rows_max || bytes > bytes_max;
  }
};

}  // namespace

std::vector<Answers::Row>::const_iterator Answers::first_to_expire(
    const std::vector<Row>& rows) const {
  auto found = rows.end();
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    if (row->name.first != limits_.first_owner || !row->expires) continue;
    if (found == rows.end() || row->expires < found->expires) found = row;
  }
  return found;
}

Result<std::vector<Answers::Row>::const_iterator> Answers::victim(const std::vector<Row>& rows,
                                                                  const Name& name,
                                                                  std::int64_t bytes) const {
  const std::string& owner = name.first;
  const bool is_first = owner == limits_.first_owner;
  Amount all;
  Amount foreign;
  std::map<std::string_view, Amount> owners;
  for (const Row& row : rows) {
    all.add(row.bytes);
    owners[row.name.first].add(row.bytes);
    if (row.name.first != limits_.first_owner) foreign.add(row.bytes);
  }
  all.add(bytes);
  owners[owner].add(bytes);
  if (!is_first) foreign.add(bytes);

  const bool owner_full =
      !is_first && owners[owner].exceeds(limits_.foreign_rows, limits_.foreign_bytes);
  const bool share_full = !is_first && foreign.exceeds(limits_.rows / 2, limits_.bytes / 2);
  const bool full = all.exceeds(limits_.rows, limits_.bytes);
  if (!owner_full && !share_full && !full) return rows.end();
  // The owner with the most rows makes room. If every owner has only one row, as this one will, any
  // of them does: owners appear and disappear as tokens are rotated.
  std::string_view from = owner;
  bool anybody = false;
  if (!owner_full && (is_first || share_full)) {
    std::int64_t most = is_first ? 0 : owners[owner].rows;
    anybody = !is_first && most == 1;
    for (const auto& [each, amount] : owners) {
      if (each == limits_.first_owner || amount.rows <= most) continue;
      most = amount.rows;
      from = each;
      anybody = false;
    }
  }
  auto found = rows.end();
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    const bool first = row->name.first == limits_.first_owner;
    if (anybody ? first : row->name.first != from) continue;
    if (first && !row->is_document()) continue;
    const bool sooner = found == rows.end() || row->is_document() > found->is_document() ||
                        (row->is_document() == found->is_document() && row->used < found->used);
    if (sooner) found = row;
  }
  if (found == rows.end() && is_first) found = first_to_expire(rows);
  if (found != rows.end()) return found;
  return fail(Errc::exhausted, "the cache holds as many answers as it may");
}

Status Answers::make_room(const Transaction& in, const Name& name, std::int64_t bytes) {
  {
    // The usual case needs only the sums, not the names.
    Cursor size = size_.use(name.first, name.second);
    TRY([[maybe_unused]] const bool found, size.next());
    const Amount all{size.integer(0) + 1, size.integer(1) + bytes};
    const Amount mine{size.integer(2) + 1, size.integer(3) + bytes};
    const bool half = all.exceeds(limits_.rows / 2, limits_.bytes / 2);
    const bool full = name.first == limits_.first_owner
                          ? all.exceeds(limits_.rows, limits_.bytes)
                          : half || mine.exceeds(limits_.foreign_rows, limits_.foreign_bytes);
    if (!full) return {};
  }
  TRY(std::vector<Row> rows, others(name));
  for (;;) {
    TRY(const auto row, victim(rows, name, bytes));
    if (row == rows.end()) return {};
    if (auto removed = remove(in, row->name.first, row->name.second); !removed) return removed;
    rows.erase(row);
  }
}

Status Answers::put(const Transaction& in, std::string_view owner, std::string_view key,
                    const Answer& answer) {
  if (static_cast<std::int64_t>(answer.bytes.size() + key.size()) > limits_.answer_bytes) {
    return fail(Errc::exhausted,
                "an answer of more than " + std::to_string(limits_.answer_bytes) + " bytes");
  }
  const Packed packed = pack(answer.bytes, PackStep::exact);
  const std::int64_t plain_size = packed.plain_size;
  const std::string_view smaller = plain_size > 0 ? packed.bytes : answer.bytes;
  const bool sealed = sealing_.seal != nullptr && sealing_.answers_to && sealing_.answers_to(key);
  std::string secret;
  if (sealed) secret = sealing_.seal->seal(smaller, answer_seal_name(owner, key, plain_size));
  const std::string_view kept = sealed ? secret : smaller;
  const auto bytes = static_cast<std::int64_t>(kept.size() + key.size());
  if (auto room = make_room(in, {std::string(owner), std::string(key)}, bytes); !room) return room;
  note_use(owner, key);
  const std::int64_t status = answer.status;
  const std::int64_t mark = sealed ? 1 : 0;
  return put_
      .use(owner, key, status, answer.content_type, nanoseconds(answer.expires),
           checksum(kept, plain_size), Blob{kept}, mark, plain_size)
      .run();
}

Result<std::optional<Answer>> Answers::find(std::string_view owner, std::string_view key) {
  Cursor row = find_.use(owner, key);
  TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  note_use(owner, key);
  Answer answer{.status = static_cast<int>(row.integer(0)),
                .content_type = std::string(row.text(1))};
  const std::string_view bytes = row.blob(4);
  const std::int64_t packed = row.integer(6);
  if (!row.is_null(2)) answer.expires = WallTime(Duration(row.integer(2)));
  if (checksum(bytes, packed) != row.integer(3)) {
    return fail(Errc::corrupt, "cached answer " + std::string(key) + " fails its checksum");
  }
  const bool sealed = row.integer(5) != 0;
  const bool wanted = sealing_.seal != nullptr && sealing_.answers_to && sealing_.answers_to(key);
  if (!sealed && wanted) return fail("cached answer", not_sealed().value());
  auto plain = sealed ? open_sealed(sealing_.seal, bytes, answer_seal_name(owner, key, packed))
                      : Result<std::string>();
  if (plain && packed != 0) plain = unpack(sealed ? *plain : bytes, packed);
  if (!plain) return fail("cached answer", plain.error());
  answer.bytes = sealed || packed != 0 ? *std::move(plain) : std::string(bytes);
  return answer;
}

Status Answers::remove(const Transaction&, std::string_view owner, std::string_view key) {
  used_.erase({std::string(owner), std::string(key)});
  return remove_.use(owner, key).run();
}

Result<std::int64_t> Answers::remove_expired(const Transaction&, WallTime time) {
  const std::int64_t before = time.time_since_epoch().count();
  if (auto done = remove_expired_.use(before, limits_.first_owner).run(); !done) {
    return fail(done.error());
  }
  return database_.changes();
}

}  // namespace holdfast::store
