#include "agent/edge/cache/stored_answers.h"

#include "platform/text.h"

namespace holdfast::agent {
namespace {

// Other callers' tokens are removed this long after their end. Only to save space: the clock may be
// wrong by days.
constexpr auto ended_answers_kept = std::chrono::hours(30 * 24);

// The key of the stored answer that holds a resource's kind. Its content is "kind apiVersion",
// followed by the encoding unless that is JSON.
std::string kind_key(const store::ScopeKey& key) {
  const std::string name = "kind " + key.group + "/" + key.version + "/" + key.resource;
  const bool json = key.encoding.empty() || key.encoding == to_string(sync::wire::Encoding::json);
  return json ? name : name + " in " + key.encoding;
}

std::string kind_text(const sync::wire::ScopeKind& kind) {
  const std::string text = kind.kind + " " + kind.api_version;
  const bool json = kind.encoding == sync::wire::Encoding::json;
  return json ? text : text + " " + std::string(to_string(kind.encoding));
}

}  // namespace

Result<std::optional<store::Answer>> StoredAnswers::find(std::string_view owner,
                                                         std::string_view key) {
  return file_.run(
      [owner, key](CacheFile::Tables& tables) { return tables.answers.find(owner, key); });
}

Result<std::vector<std::string>> StoredAnswers::keys(std::string_view owner,
                                                     std::string_view prefix) {
  return file_.run(
      [owner, prefix](CacheFile::Tables& tables) { return tables.answers.keys(owner, prefix); });
}

Status StoredAnswers::put(std::string_view owner, std::string_view key,
                          const store::Answer& answer) {
  // A pod cannot start without its token, and the cloud may be unreachable by then.
  const bool is_token = key.starts_with("token ");
  const auto durability = is_token ? store::Durability::full : store::cache_durability;
  return file_.run([owner, key, &answer, durability](CacheFile::Tables& tables) -> Status {
    TRY(store::Transaction transaction, tables.database.begin(durability));
    if (auto put = tables.answers.put(transaction, owner, key, answer); !put) return put;
    return transaction.commit();
  });
}

Status StoredAnswers::remove(std::string_view owner, std::string_view key) {
  return file_.run([owner, key](CacheFile::Tables& tables) -> Status {
    TRY(store::Transaction transaction, tables.database.begin());
    if (auto removed = tables.answers.remove(transaction, owner, key); !removed) return removed;
    return transaction.commit();
  });
}

Status StoredAnswers::remove_expired() {
  const WallTime ended_before = clock_.wall() - ended_answers_kept;
  return file_.run([ended_before](CacheFile::Tables& tables) -> Status {
    TRY(store::Transaction transaction, tables.database.begin());
    TRY([[maybe_unused]] const std::int64_t removed,
        tables.answers.remove_expired(transaction, ended_before));
    return transaction.commit();
  });
}

Result<std::optional<sync::wire::ScopeKind>> StoredAnswers::kind_of(const store::ScopeKey& key) {
  TRY(const auto answer, find(key.owner, kind_key(key)));
  if (!answer) return std::nullopt;
  const std::vector<std::string_view> words = split(answer->bytes, ' ');
  const auto encoding = words.size() == 3 ? sync::wire::parse_encoding(words[2])
                                          : std::optional(sync::wire::Encoding::json);
  if (words.size() < 2 || words.size() > 3 || !encoding) return fail(Errc::corrupt, kind_key(key));
  return sync::wire::ScopeKind{std::string(words[0]), std::string(words[1]), *encoding};
}

Status StoredAnswers::put_kind(const store::ScopeKey& key, const sync::wire::ScopeKind& kind) {
  return put(key.owner, kind_key(key), {.status = 200, .bytes = kind_text(kind)});
}

}  // namespace holdfast::agent
