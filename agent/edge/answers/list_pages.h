// Serves lists in pages (limit and continue) from the cache. It keeps snapshots of the lists that
// clients are still reading.
//
// A snapshot is kept for five minutes, as in an API server, counted from the last time that a
// client read its first page. It serves all clients that read the same list meanwhile. Only a few
// are kept, because what they contain stays in memory when the cache has newer objects. A client
// whose snapshot is gone gets the same error as from an API server, and lists again or goes on with
// what there is now.
//
// Threading: the loop's thread only.

#pragma once

#include <deque>
#include <memory>

#include "agent/edge/cache/scopes.h"
#include "platform/random.h"
#include "sync/watch/pages.h"

namespace holdfast::agent {

struct PageLimits {
  std::size_t moments = 4;
  // Of the objects of all snapshots. The newest snapshot is kept also if it alone has more.
  std::size_t bytes = 8UL << 20;
  // As long as kube-apiserver's default interval of etcd compaction.
  Duration lifetime = std::chrono::minutes(5);
};

class ListPages {
 public:
  // Both references are borrowed.
  ListPages(const Clock& clock, Random& random, const PageLimits& limits = {})
      : clock_(clock), random_(random), limits_(limits) {}

  // A page of the scope's current list, of the objects after `after`; empty: the first page. The
  // scope must be complete and `limit` above 0. Keeps a snapshot if there are more pages.
  [[nodiscard]] sync::watch::ListPage first(const LocalScope& scope, std::size_t limit,
                                            const sync::watch::ObjectKey& after = {});

  // Drops the snapshots whose lifetime is over.
  void drop_expired();

  // The page that `token` names; `limit` 0 returns the rest. Errors: gone (the snapshot is gone, or
  // is of another scope).
  [[nodiscard]] Result<sync::watch::ListPage> next(const LocalScope& scope,
                                                   const sync::watch::PageToken& token,
                                                   std::size_t limit);

 private:
  struct Snapshot {
    std::uint64_t id = 0;
    store::ScopeKey scope;
    sync::objects::Version version = 0;
    std::size_t bytes = 0;
    std::shared_ptr<const sync::watch::WatchCache::Objects> objects;
    MonoTime until{};
  };

  // Drops the oldest snapshots until one of `bytes` more fits.
  void make_room(std::size_t bytes);

  const Clock& clock_;
  Random& random_;
  PageLimits limits_;
  std::deque<Snapshot> snapshots_;  // the oldest first
};

}  // namespace holdfast::agent
