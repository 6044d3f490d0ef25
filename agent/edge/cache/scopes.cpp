#include "agent/edge/cache/scopes.h"

#include <algorithm>
#include <limits>

#include "agent/edge/options/cache_limits.h"
#include "platform/check.h"
#include "platform/log.h"
#include "platform/text.h"

namespace holdfast::agent {
namespace {

// The key of the stored answer that holds a resource's kind. Its content is "kind apiVersion",
// followed by the encoding unless that is JSON.
std::string kind_key(const store::ScopeKey& key) {
  const std::string name = "kind " + key.group + "/" + key.version + "/" + key.resource;
  const bool json = key.encoding.empty() || key.encoding == to_string(sync::wire::Encoding::json);
  return json ? name : name + " in " + key.encoding;
}

// Other callers' tokens are removed this long after their end. Only to save space: the clock may be
// wrong by days.
constexpr auto ended_answers_kept = std::chrono::hours(30 * 24);

std::string kind_text(const sync::wire::ScopeKind& kind) {
  const std::string text = kind.kind + " " + kind.api_version;
  const bool json = kind.encoding == sync::wire::Encoding::json;
  return json ? text : text + " " + std::string(to_string(kind.encoding));
}

// Parses the format that scopes_flush.cpp writes. Nothing for other texts.
std::optional<RowVersion> parse_row_version(std::string_view text) {
  const bool or_newest = text.ends_with('+');
  if (or_newest) text.remove_suffix(1);
  const auto version = sync::objects::parse_version(text);
  if (!version) return std::nullopt;
  return RowVersion{*version, or_newest};
}

}  // namespace

Result<std::optional<sync::wire::ScopeKind>> find_kind(store::Answers& answers,
                                                       const store::ScopeKey& key) {
  TRY(const auto answer, answers.find(key.owner, kind_key(key)));
  if (!answer) return std::nullopt;
  const std::vector<std::string_view> words = split(answer->bytes, ' ');
  const auto encoding = words.size() == 3 ? sync::wire::parse_encoding(words[2])
                                          : std::optional(sync::wire::Encoding::json);
  if (words.size() < 2 || words.size() > 3 || !encoding) return fail(Errc::corrupt, kind_key(key));
  return sync::wire::ScopeKind{std::string(words[0]), std::string(words[1]), *encoding};
}

Scopes::Scopes(asio::any_io_executor executor, store::Database& database, const Clock& clock,
               const CacheLimits& limits, const store::Sealing& sealing)
    : executor_(std::move(executor)),
      database_(database),
      cache_(database, sealing),
      answers_(database, limits.answers, sealing),
      local_versions_(database, "local version"),
      clock_(clock),
      limits_(limits),
      changed_(executor_),
      snapshots_(clock) {}

Status Scopes::restore() {
  if (auto limited = limit_file(); !limited) return limited;
  TRY(std::vector<store::Scope> rows, cache_.scopes());
  // If not all fit, the node's scopes come first, then the most recently used ones.
  const auto foreign = std::stable_partition(rows.begin(), rows.end(), [](const store::Scope& row) {
    return row.key.owner == node_owner;
  });
  std::stable_sort(foreign, rows.end(), [](const store::Scope& a, const store::Scope& b) {
    return a.last_used > b.last_used;
  });
  for (const store::Scope& row : rows) {
    const auto done = restore_one(row);
    if (done) continue;
    if (done.error().code == Errc::denied) {
      // It is treated as never received; the next list is encrypted with the current key.
      log_error("scope cannot be decrypted",
                {{"resource", row.key.resource}, {"error", done.error()}});
      continue;
    }
    if (done.error().code != Errc::corrupt)
      return fail("restore " + row.key.resource, done.error());
    // The node would take a missing object for deleted. So the scope is treated as never complete
    // and listed again.
    log_error("scope was damaged", {{"resource", row.key.resource}, {"error", done.error()}});
    if (auto sound = database_.quick_check(); !sound) return sound;
  }
  return {};
}

Status Scopes::restore_one(const store::Scope& row) {
  const ScopePtr scope = make(row.key);
  scope->set_row(row.id);
  scope->set_last_used(row.last_used);
  if (!fits_by_number(row.key)) {
    log_warn("too many scopes on disk: scope dropped", {{"path", scope->path()}});
    return drop(*scope);
  }
  if (!row.complete) return {};
  TRY(const bool fitting, fits(row));
  if (!fitting) {
    log_warn("scope on disk exceeds the limits: dropped", {{"path", scope->path()}});
    return drop(*scope);  // It is fetched again when it is requested.
  }
  TRY(auto kind, find_kind(answers_, row.key));
  const auto version = parse_row_version(row.resource_version);
  if (!kind || !version) return {};  // Treated as never complete: it is listed again.
  scope->set_row_version(*version);
  sync::objects::Version newest = version->version;
  sync::watch::WatchCache::Objects objects;
  const auto take = [&objects, &kind, &newest](store::CachedObject object) -> Status {
    const auto of_object = sync::objects::parse_version(object.resource_version);
    if (!of_object) return fail(Errc::corrupt, "resourceVersion of " + object.name.name);
    newest = std::max(newest, *of_object);
    // The stored kind is shared by all scopes of a resource; the objects themselves show their
    // encoding.
    const sync::wire::Encoding encoding = sync::watch::encoding_of(object.bytes);
    if (objects.empty()) kind->encoding = encoding;
    if (kind->encoding != encoding) return fail(Errc::corrupt, "encoding of " + object.name.name);
    objects[{std::move(object.name.namespace_name), std::move(object.name.name)}] = {
        std::move(object.uid), *of_object,
        std::make_shared<const std::string>(std::move(object.bytes))};
    return {};
  };
  if (auto visited = cache_.visit(row.id, {}, take); !visited) return visited;
  const sync::objects::Version seen = version->or_newest ? newest : version->version;
  scope->cache().restore(std::move(objects), seen, *kind);
  account(*scope);
  return {};
}

void Scopes::on_new(OnNew callback) {
  CHECK(!on_new_);
  on_new_ = std::move(callback);
  for (const auto& [key, scope] : scopes_) on_new_(scope);
}

ScopePtr Scopes::find(const store::ScopeKey& key) const {
  const auto at = scopes_.find(key);
  return at == scopes_.end() ? nullptr : at->second;
}

ScopePtr Scopes::make(const store::ScopeKey& key) {
  auto scope = std::make_shared<LocalScope>(executor_, key, ScopeNumber{++last_number_});
  scope->set_fetch_mode(scope->default_fetch_mode());
  scopes_[key] = scope;
  return scope;
}

Result<ScopePtr> Scopes::open(const store::ScopeKey& key) {
  if (ScopePtr known = find(key)) return known;
  if (auto room = make_room_for(key); !room) return fail(room.error());
  ScopePtr scope = make(key);
  scope->note_use(clock_.mono());
  if (on_new_) on_new_(scope);
  return scope;
}

Status Scopes::drop(LocalScope& scope) {
  const auto at = scopes_.find(scope.key());
  CHECK(at != scopes_.end() && at->second.get() == &scope);
  if (const auto row = scope.row()) {
    TRY(store::Transaction transaction, database_.begin());
    if (auto dropped = cache_.drop_scope(transaction, *row); !dropped) return dropped;
    if (auto committed = transaction.commit(); !committed) return committed;
  }
  unwritten_.erase(scope.number());
  scope.detach();
  account(scope);
  // Keeps the scope alive until the callback has returned.
  const ScopePtr kept = at->second;
  scopes_.erase(at);
  if (on_drop_) on_drop_(*kept);
  return {};
}

void Scopes::remember_use() {
  const WallTime now = clock_.wall();
  std::vector<LocalScope*> used;
  for (const auto& [key, scope] : scopes_) {
    if (scope->watched()) scope->note_use(clock_.mono());
    const Duration news =
        now > scope->last_used() ? now - scope->last_used() : scope->last_used() - now;
    const bool in_this_run = scope->used_at() != MonoTime::min();
    const bool news_by_a_day = in_this_run && news >= std::chrono::hours(24);
    if (news_by_a_day && scope->row()) used.push_back(scope.get());
  }
  if (used.empty()) return;
  const auto write = [this, &used, now]() -> Status {
    TRY(store::Transaction transaction, database_.begin());
    for (const LocalScope* scope : used) {
      if (auto done = cache_.touch(transaction, *scope->row(), now); !done) return done;
    }
    return transaction.commit();
  };
  if (auto written = write(); !written) {
    log_error("last use of scopes not stored", {{"error", written.error()}});
    return;
  }
  for (LocalScope* scope : used) scope->set_last_used(now);
}

Status Scopes::remove_expired_answers() {
  TRY(store::Transaction transaction, database_.begin());
  if (auto removed = answers_.remove_expired(transaction, clock_.wall() - ended_answers_kept);
      !removed) {
    return fail(removed.error());
  }
  return transaction.commit();
}

Status Scopes::remove_answer(std::string_view owner, std::string_view key) {
  TRY(store::Transaction transaction, database_.begin());
  if (auto removed = answers_.remove(transaction, owner, key); !removed) return removed;
  return transaction.commit();
}

Status Scopes::replace(LocalScope& scope, sync::watch::WatchCache::Objects objects,
                       sync::objects::Version version, const sync::wire::ScopeKind& kind) {
  if (scope.is_detached()) return {};
  const std::size_t bytes = sync::watch::WatchCache::bytes_of(objects);
  if (auto room = admit(scope, objects.size(), bytes); !room) return room;
  const bool was_stored = scope.cache().complete() && !scope.derived();
  scope.set_derived(false);
  const bool new_kind = scope.cache().kind() != kind;
  const auto changes = scope.cache().replace(std::move(objects), version, kind);
  scope.set_refreshed_at(clock_.mono());
  scope.set_outdated(false);
  if (new_kind) {
    const store::Answer answer{.status = 200, .bytes = kind_text(kind)};
    if (auto put = put_answer(scope.key().owner, kind_key(scope.key()), answer); !put) {
      log_error("cache write failed", {{"error", put.error()}});
    }
  }
  Unwritten& unwritten = unwritten_of(scope);
  if (!was_stored) unwritten.whole = true;
  // The first complete list must be durable: a restart serves from it.
  bool at_once = !was_stored;
  for (const sync::watch::CacheEvent& change : changes) {
    unwritten.names[change.key] = true;
    const bool comes_or_goes = change.type != sync::watch::EventType::modified;
    at_once = at_once || (comes_or_goes && holds_pods(scope));
  }
  account(scope);
  if (at_once) make_durable(scope);
  announce(scope);
  return {};
}

Status Scopes::apply(LocalScope& scope, sync::watch::CacheEvent event) {
  if (scope.is_detached()) return {};
  const sync::watch::WatchCache& cache = scope.cache();
  const sync::watch::ObjectKey key = event.key;
  const bool was_there = cache.find(key) != nullptr;
  if (event.type != sync::watch::EventType::deleted) {
    const std::size_t objects = cache.objects().size() + (was_there ? 0 : 1);
    const std::size_t before =
        was_there ? cache.find(key)->bytes->size() + sync::watch::object_overhead : 0;
    const std::size_t bytes =
        cache.object_bytes() - before + event.object.bytes->size() + sync::watch::object_overhead;
    if (auto room = admit(scope, objects, bytes); !room) return room;
  }
  if (!scope.cache().apply(std::move(event))) return {};
  account(scope);
  unwritten_of(scope).names[key] = true;
  const bool is_there = scope.cache().find(key) != nullptr;
  if (was_there != is_there && holds_pods(scope)) make_durable(scope);
  announce(scope);
  return {};
}

void Scopes::bookmark(LocalScope& scope, sync::objects::Version version) {
  if (scope.is_detached()) return;
  scope.cache().bookmark(version);
  scope.changed().notify_all();
}

Scopes::Unwritten& Scopes::unwritten_of(LocalScope& scope) {
  Unwritten& unwritten = unwritten_[scope.number()];
  unwritten.scope = scope.shared_from_this();
  return unwritten;
}

void Scopes::note(LocalScope& scope, const sync::watch::ObjectKey& key) {
  if (!scope.derived()) unwritten_of(scope).names[key] = true;
  announce(scope);
}

void Scopes::announce(LocalScope& scope) {
  if (scope.held()) return;
  scope.changed().notify_all();
  changed_.notify_all();
}

void Scopes::apply_local(LocalScope& scope, sync::watch::CacheEvent event) {
  if (scope.is_detached()) return;
  const sync::watch::ObjectKey key = event.key;
  if (!scope.cache().apply_local(std::move(event))) return;
  account(scope);
  note(scope, key);
}

Result<sync::objects::Version> Scopes::next_local_version() {
  TRY(const std::int64_t next, local_versions_.next());
  return sync::objects::first_local_version + static_cast<sync::objects::Version>(next);
}

bool Scopes::has_assigned(sync::objects::Version local) {
  CHECK(sync::objects::is_local(local));
  const sync::objects::Version number = local - sync::objects::first_local_version;
  constexpr auto last = std::numeric_limits<std::int64_t>::max();
  if (number > static_cast<sync::objects::Version>(last)) return false;
  return local_versions_.has_returned(static_cast<std::int64_t>(number)).value_or(false);
}

Result<std::optional<store::Answer>> Scopes::find_answer(std::string_view owner,
                                                         std::string_view key) {
  return answers_.find(owner, key);
}

Result<std::vector<std::string>> Scopes::answer_keys(std::string_view owner,
                                                     std::string_view prefix) {
  return answers_.keys(owner, prefix);
}

Status Scopes::put_answer(std::string_view owner, std::string_view key,
                          const store::Answer& answer) {
  // A pod cannot start without its token, and the cloud may be unreachable by then.
  const bool is_token = key.starts_with("token ");
  const auto durability = is_token ? store::Durability::full : store::cache_durability;
  TRY(store::Transaction transaction, database_.begin(durability));
  if (auto put = answers_.put(transaction, owner, key, answer); !put) return put;
  return transaction.commit();
}

}  // namespace holdfast::agent
