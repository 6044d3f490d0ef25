// Snapshots of cached lists that clients are still reading in pages.
//
// A snapshot is kept for five minutes, as in an API server, counted from the last time that a
// client read its first page. It serves all clients that read the same list meanwhile. Only a few
// are kept, because what they contain stays in memory when the cache has newer objects. A client
// whose snapshot is gone gets the same error as from an API server, and lists again or goes on with
// what there is now.
//
// Threading: the loop's thread only.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "platform/time.h"
#include "store/cache.h"
#include "sync/watch/watch_cache.h"

namespace holdfast::agent {

struct SnapshotLimits {
  std::size_t count = 4;
  // Of the objects of all snapshots. The newest snapshot is kept also if it alone has more.
  std::size_t bytes = 8UL << 20;
  // As long as kube-apiserver's default interval of etcd compaction.
  Duration lifetime = std::chrono::minutes(5);
};

struct ListSnapshot {
  std::uint64_t id = 0;  // as in the continue tokens
  store::ScopeKey scope;
  sync::objects::Version version = 0;
  sync::watch::WatchCache::Objects objects;  // share their bytes with the cache
};

class ListSnapshots {
 public:
  // `clock` is borrowed.
  explicit ListSnapshots(const Clock& clock, const SnapshotLimits& limits = {})
      : clock_(clock), limits_(limits) {}

  // The snapshot of the scope at that version, whose lifetime begins again, or null. The pointer is
  // valid until the next call of another method.
  [[nodiscard]] const ListSnapshot* renew(const store::ScopeKey& scope,
                                          sync::objects::Version version);
  // The scope's snapshot of that id, or null if it was dropped or its lifetime is over. The pointer
  // is valid until the next call of another method.
  [[nodiscard]] const ListSnapshot* find(const store::ScopeKey& scope, std::uint64_t id);
  // Keeps a snapshot. Drops the oldest ones that do not fit beside it.
  void keep(ListSnapshot snapshot);
  // Drops the snapshots whose lifetime is over.
  void drop_expired();
  // Drops the oldest snapshots until those that remain hold at most `bytes` bytes that nobody
  // shares with them, neither the cache nor an answer that is being sent.
  void limit_unshared(std::size_t bytes);

 private:
  struct Kept {
    ListSnapshot snapshot;
    std::size_t bytes = 0;
    MonoTime until{};
  };

  const Clock& clock_;
  SnapshotLimits limits_;
  std::deque<Kept> kept_;  // the oldest first
};

}  // namespace holdfast::agent
