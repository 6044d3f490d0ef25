// The part of Scopes that enforces CacheLimits: which scopes may be opened, how many bytes they may
// hold, and which are dropped to make room.

#include <algorithm>

#include "agent/edge/cache/scopes.h"
#include "agent/edge/options/cache_limits.h"
#include "platform/check.h"
#include "platform/log.h"

namespace holdfast::agent {
namespace {

bool is_foreign(const store::ScopeKey& key) { return key.owner != node_owner; }

bool used_before(const LocalScope& a, const LocalScope& b) {
  if (a.used_at() != b.used_at()) return a.used_at() < b.used_at();
  return a.last_used() < b.last_used();
}

std::string too_many(std::size_t limit, std::string_view what) {
  return "more than " + std::to_string(limit) + " " + std::string(what);
}

}  // namespace

std::size_t Scopes::count_of(std::string_view owner) const {
  return static_cast<std::size_t>(
      std::count_if(scopes_.begin(), scopes_.end(),
                    [owner](const auto& each) { return each.first.owner == owner; }));
}

std::size_t Scopes::foreign_count() const { return scopes_.size() - count_of(node_owner); }

std::string Scopes::largest_foreign_owner() const {
  std::map<std::string_view, std::size_t> counts;
  for (const auto& [key, scope] : scopes_) {
    if (is_foreign(key)) ++counts[key.owner];
  }
  const auto largest =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return largest == counts.end() ? "" : std::string(largest->first);
}

bool Scopes::drop_least_recently_used(const std::function<bool(const LocalScope&)>& among) {
  ScopePtr found;
  for (const auto& [key, scope] : scopes_) {
    // The node's own scope shows local writes until the cloud has them, so it stays. A foreign
    // owner's scope only shows a copy: the outbox keeps the write, and the scope must not block the
    // node's room.
    const bool keeps_writes = scope->cache().has_local_events() && !is_foreign(key);
    if (keeps_writes || !among(*scope)) continue;
    if (!found || used_before(*scope, *found)) found = scope;
  }
  if (!found) return false;
  if (auto dropped = drop(*found); !dropped) {
    log_error("scope not dropped", {{"path", found->path()}, {"error", dropped.error()}});
    return false;
  }
  ++evicted_;
  log_info("scope dropped", {{"path", found->path()}, {"why", "quota"}});
  return true;
}

bool Scopes::drop_one_of(std::string_view owner) {
  return drop_least_recently_used(
      [owner](const LocalScope& scope) { return scope.key().owner == owner && !scope.watched(); });
}

bool Scopes::drop_bytes_of(std::string_view owner, const LocalScope& except) {
  return drop_least_recently_used([owner, &except](const LocalScope& scope) {
    return scope.key().owner == owner && &scope != &except && !scope.watched() &&
           scope.accounted() > 0;
  });
}

// Drops a foreign scope of at least `bytes_min` bytes: an unwatched one if there is one, otherwise
// any. A dropped scope's watches end.
bool Scopes::drop_foreign(std::size_t bytes_min) {
  const auto any = [bytes_min](const LocalScope& scope) {
    return is_foreign(scope.key()) && scope.accounted() >= bytes_min;
  };
  const auto idle = [&any](const LocalScope& scope) { return any(scope) && !scope.watched(); };
  return drop_least_recently_used(idle) || drop_least_recently_used(any);
}

// Drops one of the node's own scopes that is unwatched and not needed by a pod: first those that
// hold one object, then those of one namespace. Cluster-wide scopes stay.
bool Scopes::drop_least_needed() {
  const auto free = [this](const LocalScope& scope) {
    return !is_foreign(scope.key()) && !scope.watched() && !is_needed_(scope);
  };
  const auto one = [&free](const LocalScope& scope) {
    return !scope.object_name().empty() && free(scope);
  };
  const auto in_namespace = [&free](const LocalScope& scope) {
    return !scope.key().namespace_name.empty() && free(scope);
  };
  return drop_least_recently_used(one) || drop_least_recently_used(in_namespace);
}

Status Scopes::make_room_for(const store::ScopeKey& key) {
  if (!is_foreign(key)) {
    if (scopes_.size() < limits_.scopes) return {};
    if (drop_foreign(0) || drop_least_needed()) return {};
    return fail(Errc::exhausted, too_many(limits_.scopes, "scopes, all of them needed"));
  }
  const std::size_t share = foreign_share(limits_.scopes);
  const std::size_t mine = count_of(key.owner);
  if (mine >= std::min(limits_.foreign.scopes, share)) {
    if (drop_one_of(key.owner)) return {};
    return fail(Errc::exhausted, too_many(mine, "scopes of one caller, all of them watched"));
  }
  if (foreign_count() < share && scopes_.size() < limits_.scopes) return {};
  // Only the owner with the most scopes makes room, and only for an owner with fewer.
  const std::string largest = largest_foreign_owner();
  const bool fair = !largest.empty() && count_of(largest) > mine;
  if (fair && drop_one_of(largest)) return {};
  if (mine > 0 && drop_one_of(key.owner)) return {};
  // Rotated tokens are new owners: a scope of any foreign owner may be stale.
  const auto idle = [](const LocalScope& scope) {
    return is_foreign(scope.key()) && !scope.watched();
  };
  if (mine == 0 && drop_least_recently_used(idle)) return {};
  return fail(Errc::exhausted, too_many(share, "scopes of callers other than the node"));
}

// ---------------------------------------------------------------------------------------- bytes

void Scopes::account(LocalScope& scope) {
  const std::size_t now = scope.is_detached() ? 0 : scope.cache().memory_bytes();
  std::size_t& of_owner = owner_bytes_[scope.key().owner];
  CHECK(of_owner >= scope.accounted() && memory_bytes_ >= scope.accounted());
  of_owner = of_owner - scope.accounted() + now;
  memory_bytes_ = memory_bytes_ - scope.accounted() + now;
  if (of_owner == 0) owner_bytes_.erase(scope.key().owner);
  scope.set_accounted(now);
  snapshots_.limit_unshared(limits_.memory_bytes - std::min(memory_bytes_, limits_.memory_bytes));
}

std::size_t Scopes::bytes_of(const std::string& owner) const {
  const auto known = owner_bytes_.find(owner);
  return known == owner_bytes_.end() ? 0 : known->second;
}

std::size_t Scopes::growth_of(const LocalScope& scope, std::size_t bytes) {
  const std::size_t events = scope.cache().memory_bytes() - scope.cache().object_bytes();
  const std::size_t after = bytes + events;
  return after > scope.accounted() ? after - scope.accounted() : 0;
}

Status Scopes::admit(const LocalScope& scope, std::size_t objects, std::size_t bytes) {
  const auto full = [](std::string what) { return fail(Errc::exhausted, std::move(what)); };
  if (objects > limits_.scope_objects) return full(too_many(limits_.scope_objects, "objects"));
  if (bytes > limits_.scope_bytes) return full(too_many(limits_.scope_bytes, "bytes of objects"));
  if (bytes <= scope.cache().object_bytes()) return {};
  if (is_foreign(scope.key())) {
    if (auto room = admit_foreign(scope, bytes); !room) return room;
  }
  // Kept events go first. Then foreign scopes make room, but only for the node's.
  while (memory_bytes_ + growth_of(scope, bytes) > limits_.memory_bytes) {
    if (forget_events("")) continue;
    if (!is_foreign(scope.key()) && drop_foreign(1)) continue;
    return full("the cache would hold " + too_many(limits_.memory_bytes, "bytes"));
  }
  return {};
}

Status Scopes::admit_foreign(const LocalScope& scope, std::size_t bytes) {
  const std::string& owner = scope.key().owner;
  while (bytes_of(owner) + growth_of(scope, bytes) > limits_.foreign.bytes) {
    if (forget_events(owner) || drop_bytes_of(owner, scope)) continue;
    return fail(Errc::exhausted, too_many(limits_.foreign.bytes, "bytes of one caller's objects"));
  }
  const std::size_t share = foreign_share(limits_.memory_bytes);
  const std::size_t foreign = memory_bytes_ - bytes_of(std::string(node_owner));
  if (foreign + growth_of(scope, bytes) <= share) return {};
  return fail(Errc::exhausted, too_many(share, "bytes of objects of callers other than the node"));
}

Status Scopes::limit_file() {
  TRY(const store::Database::Pages pages, database_.pages());
  // A quarter remains for the write-ahead log, which a checkpoint empties.
  const std::int64_t most = limits_.disk_bytes / 4 * 3 / std::max<std::int64_t>(pages.bytes, 512);
  return database_.execute("PRAGMA max_page_count = " +
                           std::to_string(std::max(most, pages.total)));
}

// Whether a restored scope fits the limits. The run that stored it may have had larger ones.
Result<bool> Scopes::fits(const store::Scope& row) {
  TRY(const store::CacheSize size, cache_.size(row.id));
  const auto objects = static_cast<std::size_t>(size.objects);
  const std::size_t bytes =
      static_cast<std::size_t>(size.bytes) + objects * sync::watch::object_overhead;
  if (objects > limits_.scope_objects || bytes > limits_.scope_bytes) return false;
  if (memory_bytes_ + bytes > limits_.memory_bytes) return false;
  if (!is_foreign(row.key)) return true;
  const std::size_t foreign = memory_bytes_ - bytes_of(std::string(node_owner));
  return bytes_of(row.key.owner) + bytes <= limits_.foreign.bytes &&
         foreign + bytes <= foreign_share(limits_.memory_bytes);
}

// Whether the number of restored scopes, including this one, is within the limits. The node's own
// are always kept: they may show writes that the cloud does not have yet.
bool Scopes::fits_by_number(const store::ScopeKey& key) const {
  if (!is_foreign(key)) return true;
  const std::size_t share = foreign_share(limits_.scopes);
  return scopes_.size() <= limits_.scopes && foreign_count() <= share &&
         count_of(key.owner) <= std::min(limits_.foreign.scopes, share);
}

bool Scopes::forget_events(std::string_view owner) {
  const std::size_t before = memory_bytes_;
  for (const auto& [key, scope] : scopes_) {
    if (!owner.empty() && key.owner != owner) continue;
    scope->cache().forget_events();
    account(*scope);
  }
  return memory_bytes_ < before;
}

}  // namespace holdfast::agent
