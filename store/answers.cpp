#include "store/answers.h"

#include "store/checksum.h"

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
          " sealed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
          " ON CONFLICT (owner, key) DO UPDATE SET status = ?3, content_type = ?4,"
          " expires_wall = ?5, checksum = ?6, bytes = ?7, sealed = ?8"
          " WHERE bytes <> ?7 OR status <> ?3 OR content_type <> ?4 OR expires_wall IS NOT ?5"
          " OR sealed <> ?8")),
      find_(database.prepare("SELECT status, content_type, expires_wall, checksum, bytes, sealed"
                             " FROM answer WHERE owner = ?1 AND key = ?2")),
      remove_(database.prepare("DELETE FROM answer WHERE owner = ?1 AND key = ?2")),
      remove_expired_(database.prepare("DELETE FROM answer WHERE expires_wall < ?1")),
      others_(database.prepare("SELECT count(*), coalesce(sum(length(bytes)), 0) FROM answer"
                               " WHERE owner <> ?1 OR key <> ?2")) {}

Status Answers::put(const Transaction&, std::string_view owner, std::string_view key,
                    const Answer& answer) {
  {
    Cursor others = others_.use(owner, key);
    TRY([[maybe_unused]] const bool found, others.next());
    const std::int64_t bytes = others.integer(1) + static_cast<std::int64_t>(answer.bytes.size());
    if (others.integer(0) >= limits_.rows || bytes > limits_.bytes) {
      return fail(Errc::exhausted, "the cache holds as many answers as it may");
    }
  }
  const std::int64_t status = answer.status;
  const bool sealed = sealing_.seal != nullptr && sealing_.answers_to && sealing_.answers_to(key);
  std::string secret;
  if (sealed) secret = sealing_.seal->seal(answer.bytes, answer_seal_name(owner, key));
  const std::string_view bytes = sealed ? secret : answer.bytes;
  const std::int64_t mark = sealed ? 1 : 0;
  return put_
      .use(owner, key, status, answer.content_type, nanoseconds(answer.expires), checksum(bytes),
           Blob{bytes}, mark)
      .run();
}

Result<std::optional<Answer>> Answers::find(std::string_view owner, std::string_view key) {
  Cursor row = find_.use(owner, key);
  TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  Answer answer{.status = static_cast<int>(row.integer(0)),
                .content_type = std::string(row.text(1)),
                .bytes = std::string(row.blob(4))};
  if (!row.is_null(2)) answer.expires = WallTime(Duration(row.integer(2)));
  if (checksum(answer.bytes) != row.integer(3)) {
    return fail(Errc::corrupt, "cached answer " + std::string(key) + " fails its checksum");
  }
  if (row.integer(5) == 0) {
    const bool wanted = sealing_.seal != nullptr && sealing_.answers_to && sealing_.answers_to(key);
    if (wanted) return fail("cached answer", not_sealed().value());
    return answer;
  }
  auto opened = open_sealed(sealing_.seal, answer.bytes, answer_seal_name(owner, key));
  if (!opened) return fail("cached answer", opened.error());
  answer.bytes = *std::move(opened);
  return answer;
}

Status Answers::remove(const Transaction&, std::string_view owner, std::string_view key) {
  return remove_.use(owner, key).run();
}

Result<std::int64_t> Answers::remove_expired(const Transaction&, WallTime time) {
  const std::int64_t before = time.time_since_epoch().count();
  if (auto done = remove_expired_.use(before).run(); !done) return fail(done.error());
  return database_.changes();
}

}  // namespace holdfast::store
