// The limits of the cache, for all owners together and for one owner.
//
// An owner is the identity that fetched a scope: the node, or a caller with its own credentials (a
// foreign owner). The node has priority: all foreign owners together may use at most half of each
// limit, and their least recently used scopes are dropped when the node needs room.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::sync::watch {

// The owner of what the node's own credentials have fetched.
inline constexpr std::string_view node_owner = "node";

// Limits of one foreign owner.
struct OwnerLimits {
  std::size_t scopes = 64;
  std::size_t bytes = 4UL << 20;  // of its scopes, in memory
};

struct CacheLimits {
  std::size_t scopes = 500;  // of all owners
  OwnerLimits foreign = {};
  // Of all scopes in memory: objects, events kept for watches that resume, and a fixed overhead for
  // each object (object_overhead).
  std::size_t memory_bytes = 24UL << 20;
  // Size of cache.db and its write-ahead log together.
  std::int64_t disk_bytes = 128LL << 20;
  std::size_t scope_bytes = 8UL << 20;  // of one scope in memory
  std::size_t scope_objects = 20'000;

  // Whether the objects of a scope that does not fit into memory may be kept on disk only.
  [[nodiscard]] static constexpr bool may_keep_on_disk(std::string_view owner) {
    return owner == node_owner;
  }
  // Bytes of the objects of such a scope. They are compressed on disk.
  [[nodiscard]] constexpr std::size_t list_bytes() const {
    return std::max(scope_bytes, static_cast<std::size_t>(disk_bytes));
  }
};

// What one foreign owner's scopes may hold, if one scope of the node's may hold `scope_bytes`.
[[nodiscard]] constexpr std::size_t foreign_scope_bytes(std::size_t scope_bytes) {
  return std::max(OwnerLimits{}.bytes, scope_bytes / 2);
}

// The part of the limit `all` that all foreign owners together may use.
[[nodiscard]] constexpr std::size_t foreign_share(std::size_t all) { return all / 2; }

}  // namespace holdfast::sync::watch
