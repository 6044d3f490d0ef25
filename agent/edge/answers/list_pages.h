// Serves lists in pages (limit and continue) from the cache, from snapshots of the lists that
// clients are still reading.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/cache/scopes.h"
#include "platform/random.h"
#include "sync/watch/pages.h"

namespace holdfast::agent {

class ListPages {
 public:
  // Both references are borrowed.
  ListPages(ListSnapshots& snapshots, Random& random) : snapshots_(snapshots), random_(random) {}

  // A page of the scope's current list, of the objects after `after`; empty: the first page. The
  // scope must be complete and `limit` above 0. Keeps a snapshot if there are more pages.
  [[nodiscard]] sync::watch::ListPage first(const LocalScope& scope, std::size_t limit,
                                            const sync::watch::ObjectKey& after = {});

  // The page that `token` names; `limit` 0 returns the rest. Errors: gone (the snapshot is gone, or
  // is of another scope).
  [[nodiscard]] Result<sync::watch::ListPage> next(const LocalScope& scope,
                                                   const sync::watch::PageToken& token,
                                                   std::size_t limit);

 private:
  ListSnapshots& snapshots_;
  Random& random_;
};

}  // namespace holdfast::agent
