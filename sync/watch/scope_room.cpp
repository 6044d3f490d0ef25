#include "sync/watch/scope_room.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "platform/check.h"

namespace holdfast::sync::watch {
namespace {

std::string too_many(std::size_t limit, std::string_view what) {
  return "more than " + std::to_string(limit) + " " + std::string(what);
}

RoomStep refuse(std::string why) { return {.kind = RoomStep::Kind::refuse, .why = std::move(why)}; }

RoomStep forget_events(std::string_view owner) {
  return {.kind = RoomStep::Kind::forget, .owner = std::string(owner)};
}

using Predicate = std::function<bool(const ScopeFacts&)>;

// Drops the least recently used one of those that `among` names.
std::optional<RoomStep> drop_one(const ScopeFactsTable& scopes, const Predicate& among) {
  std::optional<std::size_t> found;
  for (std::size_t at = 0; at < scopes.size(); ++at) {
    const ScopeFacts& scope = scopes[at];
    // The node's own scope shows local writes until the cloud has them, so it stays. A foreign
    // owner's scope only shows a copy: the outbox keeps the write, and the scope must not block the
    // node's room.
    const bool stays = scope.keeps_writes && !scope.is_foreign();
    if (stays || !among(scope)) continue;
    const auto used = [&scopes](std::size_t one) {
      return std::tuple(scopes[one].used_at, scopes[one].last_used);
    };
    if (!found || used(at) < used(*found)) found = at;
  }
  if (!found) return std::nullopt;
  return RoomStep{.kind = RoomStep::Kind::drop, .scope = *found};
}

std::optional<RoomStep> drop_idle_of(const ScopeFactsTable& scopes, std::string_view owner,
                                     std::size_t bytes_min) {
  return drop_one(scopes, [owner, bytes_min](const ScopeFacts& scope) {
    return scope.owner == owner && !scope.is_watched && scope.bytes >= bytes_min;
  });
}

// Drops a foreign scope of at least `bytes_min` bytes: an unwatched one if there is one, otherwise
// any. A dropped scope's watches end.
std::optional<RoomStep> drop_foreign(const ScopeFactsTable& scopes, std::size_t bytes_min) {
  const auto any = [bytes_min](const ScopeFacts& scope) {
    return scope.is_foreign() && scope.bytes >= bytes_min;
  };
  const auto idle = [&any](const ScopeFacts& scope) { return any(scope) && !scope.is_watched; };
  auto step = drop_one(scopes, idle);
  return step ? step : drop_one(scopes, any);
}

// Drops one of the node's own scopes that is unwatched and not needed by a pod: first those that
// hold one object, then those of one namespace. Cluster-wide scopes stay.
std::optional<RoomStep> drop_least_needed(const ScopeFactsTable& scopes) {
  const auto free = [](const ScopeFacts& scope, Extent extent) {
    return !scope.is_foreign() && !scope.is_watched && !scope.is_needed && scope.extent == extent;
  };
  for (const Extent extent : {Extent::one_object, Extent::one_namespace}) {
    auto step =
        drop_one(scopes, [&free, extent](const ScopeFacts& scope) { return free(scope, extent); });
    if (step) return step;
  }
  return std::nullopt;
}

std::size_t count_of(const ScopeFactsTable& scopes, std::string_view owner) {
  return static_cast<std::size_t>(
      std::count_if(scopes.begin(), scopes.end(),
                    [owner](const ScopeFacts& scope) { return scope.owner == owner; }));
}

std::size_t foreign_count(const ScopeFactsTable& scopes) {
  return scopes.size() - count_of(scopes, node_owner);
}

// The foreign owner with the most scopes; "" if there is none.
std::string_view largest_foreign_owner(const ScopeFactsTable& scopes) {
  std::map<std::string_view, std::size_t> counts;
  for (const ScopeFacts& scope : scopes) {
    if (scope.is_foreign()) ++counts[scope.owner];
  }
  const auto largest =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return largest == counts.end() ? "" : largest->first;
}

bool has_events(const ScopeFactsTable& scopes, std::string_view owner) {
  return std::any_of(scopes.begin(), scopes.end(), [owner](const ScopeFacts& scope) {
    return scope.event_bytes > 0 && (owner.empty() || scope.owner == owner);
  });
}

// How many bytes more the scope will count for.
std::size_t more_bytes(const Growth& growth) {
  const std::size_t after = growth.bytes + growth.event_bytes;
  return after > growth.counted ? after - growth.counted : 0;
}

bool exceeds_owner(const Growth& growth, const ScopeBytes& held, const CacheLimits& limits) {
  return growth.owner != node_owner &&
         held.of(growth.owner) + more_bytes(growth) > limits.foreign.bytes;
}

bool exceeds_share(const Growth& growth, const ScopeBytes& held, const CacheLimits& limits) {
  return growth.owner != node_owner &&
         held.foreign() + more_bytes(growth) > foreign_share(limits.memory_bytes);
}

bool exceeds_memory(const Growth& growth, const ScopeBytes& held, const CacheLimits& limits) {
  return held.all() + more_bytes(growth) > limits.memory_bytes;
}

}  // namespace

void ScopeBytes::change(const std::string& owner, std::size_t before, std::size_t after) {
  std::size_t& of_owner = by_owner_[owner];
  CHECK(of_owner >= before && all_ >= before);
  of_owner = of_owner - before + after;
  all_ = all_ - before + after;
  if (of_owner == 0) by_owner_.erase(owner);
}

std::size_t ScopeBytes::of(std::string_view owner) const {
  const auto known = by_owner_.find(owner);
  return known == by_owner_.end() ? 0 : known->second;
}

RoomStep room_to_open(const ScopeFactsTable& scopes, std::string_view owner,
                      const CacheLimits& limits) {
  if (owner == node_owner) {
    if (scopes.size() < limits.scopes) return {};
    if (auto step = drop_foreign(scopes, 0)) return *step;
    if (auto step = drop_least_needed(scopes)) return *step;
    return refuse(too_many(limits.scopes, "scopes, all of them needed"));
  }
  const std::size_t share = foreign_share(limits.scopes);
  const std::size_t mine = count_of(scopes, owner);
  if (mine >= std::min(limits.foreign.scopes, share)) {
    if (auto step = drop_idle_of(scopes, owner, 0)) return *step;
    return refuse(too_many(mine, "scopes of one caller, all of them watched"));
  }
  if (foreign_count(scopes) < share && scopes.size() < limits.scopes) return {};
  // Only the owner with the most scopes makes room, and only for an owner with fewer.
  const std::string_view largest = largest_foreign_owner(scopes);
  if (!largest.empty() && count_of(scopes, largest) > mine) {
    if (auto step = drop_idle_of(scopes, largest, 0)) return *step;
  }
  if (mine > 0) {
    if (auto step = drop_idle_of(scopes, owner, 0)) return *step;
  } else if (auto step = drop_one(scopes, [](const ScopeFacts& scope) {
               // Rotated tokens are new owners: a scope of any foreign owner may be stale.
               return scope.is_foreign() && !scope.is_watched;
             })) {
    return *step;
  }
  return refuse(too_many(share, "scopes of callers other than the node"));
}

bool has_room_for(const Growth& growth, const ScopeBytes& held, const CacheLimits& limits) {
  if (growth.objects > limits.scope_objects || growth.bytes > limits.scope_bytes) return false;
  if (growth.bytes <= growth.bytes_before) return true;
  return !exceeds_owner(growth, held, limits) && !exceeds_share(growth, held, limits) &&
         !exceeds_memory(growth, held, limits);
}

RoomStep room_to_grow(const Growth& growth, const ScopeBytes& held, const ScopeFactsTable& others,
                      const CacheLimits& limits) {
  if (has_room_for(growth, held, limits)) return {};
  if (growth.objects > limits.scope_objects)
    return refuse(too_many(limits.scope_objects, "objects"));
  if (growth.bytes > limits.scope_bytes) {
    return refuse(too_many(limits.scope_bytes, "bytes of objects"));
  }
  if (exceeds_owner(growth, held, limits)) {
    const bool events = growth.event_bytes > 0 || has_events(others, growth.owner);
    if (events) return forget_events(growth.owner);
    if (auto step = drop_idle_of(others, growth.owner, 1)) return *step;
    return refuse(too_many(limits.foreign.bytes, "bytes of one caller's objects"));
  }
  if (exceeds_share(growth, held, limits)) {
    return refuse(too_many(foreign_share(limits.memory_bytes),
                           "bytes of objects of callers other than the node"));
  }
  // Kept events go first. Then foreign scopes make room, but only for the node's.
  if (growth.event_bytes > 0 || has_events(others, "")) return forget_events("");
  if (growth.owner == node_owner) {
    if (auto step = drop_foreign(others, 1)) return *step;
  }
  return refuse("the cache would hold " + too_many(limits.memory_bytes, "bytes"));
}

bool fits_by_number(const ScopeFactsTable& scopes, std::string_view owner,
                    const CacheLimits& limits) {
  const std::size_t share = foreign_share(limits.scopes);
  return scopes.size() <= limits.scopes && foreign_count(scopes) <= share &&
         count_of(scopes, owner) <= std::min(limits.foreign.scopes, share);
}

}  // namespace holdfast::sync::watch
