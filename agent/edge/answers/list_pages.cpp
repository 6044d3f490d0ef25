#include "agent/edge/answers/list_pages.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::agent {
namespace {

bool selects(const store::ScopeKey& key) {
  return !key.label_selector.empty() || !key.field_selector.empty();
}

}  // namespace

sync::watch::ListPage ListPages::first(const LocalScope& scope, std::size_t limit,
                                       const sync::watch::ObjectKey& after) {
  CHECK(limit > 0 && scope.cache().complete());
  const sync::watch::WatchCache& cache = scope.cache();
  const bool counts = !selects(scope.key());
  // Clients that read the same list at the same time share its snapshot.
  const auto same =
      std::find_if(snapshots_.begin(), snapshots_.end(), [&scope, &cache](const Snapshot& moment) {
        return moment.scope == scope.key() && moment.version == cache.version();
      });
  const bool shared = same != snapshots_.end();
  const std::uint64_t id = shared ? same->id : std::max<std::uint64_t>(1, random_.next());
  sync::watch::ListPage page =
      sync::watch::cut_page(cache.objects(), cache.version(), {id, after}, limit, counts);
  if (page.part.continue_token.empty()) return page;
  // A snapshot is only kept if there is a next page: most lists end with their first page.
  if (shared) {
    same->until = clock_.mono() + limits_.lifetime;
    std::rotate(same, std::next(same), snapshots_.end());
    return page;
  }
  make_room(cache.object_bytes());
  snapshots_.push_back({id, scope.key(), cache.version(), cache.object_bytes(),
                        std::make_shared<const sync::watch::WatchCache::Objects>(cache.objects()),
                        clock_.mono() + limits_.lifetime});
  return page;
}

void ListPages::drop_expired() {
  std::erase_if(snapshots_,
                [now = clock_.mono()](const Snapshot& moment) { return moment.until <= now; });
}

void ListPages::make_room(std::size_t bytes) {
  for (const Snapshot& kept : snapshots_) bytes += kept.bytes;
  while (!snapshots_.empty() && (snapshots_.size() >= limits_.moments || bytes > limits_.bytes)) {
    bytes -= snapshots_.front().bytes;
    snapshots_.pop_front();
  }
}

Result<sync::watch::ListPage> ListPages::next(const LocalScope& scope,
                                              const sync::watch::PageToken& token,
                                              std::size_t limit) {
  if (token.snapshot == 0) {
    const std::size_t all = std::max<std::size_t>(1, scope.cache().objects().size());
    return first(scope, limit == 0 ? all : limit, token.after);
  }
  drop_expired();
  const auto found =
      std::find_if(snapshots_.begin(), snapshots_.end(), [&token, &scope](const Snapshot& moment) {
        return moment.id == token.snapshot && moment.scope == scope.key();
      });
  if (found == snapshots_.end())
    return fail(Errc::gone, "the snapshot of the continue token is gone");
  const std::size_t most = limit == 0 ? found->objects->size() : limit;
  return sync::watch::cut_page(*found->objects, found->version, token, most,
                               !selects(found->scope));
}

}  // namespace holdfast::agent
