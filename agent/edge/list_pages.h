// Lists in pages out of the cache: remembers the moments that clients are still reading.
//
// A moment is kept as long as an API server would (five minutes), and only so many of them; whoever
// comes too late is told so, in an API server's words, and begins anew.
//
// Threading: the loop's thread only.

#pragma once

#include <deque>
#include <memory>

#include "agent/edge/scopes.h"
#include "platform/random.h"
#include "sync/watch/pages.h"

namespace holdfast::agent {

struct PageLimits {
  std::size_t moments = 4;
  Duration lifetime = std::chrono::minutes(5);  // etcd's compaction interval at kube-apiserver
};

class ListPages {
 public:
  // Both are borrowed.
  ListPages(const Clock& clock, Random& random, const PageLimits& limits = {})
      : clock_(clock), random_(random), limits_(limits) {}

  // The first page of the scope as it is now; it is complete. `limit` > 0.
  [[nodiscard]] sync::ListPage first(const LocalScope& scope, std::size_t limit);

  // The page that `token` asks for; a `limit` of 0: all that is left. Errors: gone, in an API
  // server's words (too late, or a token of another scope).
  [[nodiscard]] Result<sync::ListPage> next(const LocalScope& scope, const sync::PageToken& token,
                                            std::size_t limit);

 private:
  struct Moment {
    std::uint64_t id = 0;
    store::ScopeKey scope;
    sync::Version version = 0;
    std::shared_ptr<const sync::WatchCache::Objects> objects;
    MonoTime until{};
  };

  const Clock& clock_;
  Random& random_;
  PageLimits limits_;
  std::deque<Moment> moments_;  // the oldest first
};

}  // namespace holdfast::agent
