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
  const ListSnapshot* shared = snapshots_.renew(scope.key(), cache.version());
  const std::uint64_t id =
      shared != nullptr ? shared->id : std::max<std::uint64_t>(1, random_.next());
  sync::watch::ListPage page =
      sync::watch::cut_page(cache.objects(), cache.version(), {id, after}, limit, counts);
  // A snapshot is only kept if there is a next page: most lists end with their first page.
  if (!page.part.continue_token.empty() && shared == nullptr) {
    snapshots_.keep({id, scope.key(), cache.version(), cache.objects()});
  }
  return page;
}

Result<sync::watch::ListPage> ListPages::next(const LocalScope& scope,
                                              const sync::watch::PageToken& token,
                                              std::size_t limit) {
  if (token.snapshot == 0) {
    const std::size_t all = std::max<std::size_t>(1, scope.cache().objects().size());
    return first(scope, limit == 0 ? all : limit, token.after);
  }
  const ListSnapshot* found = snapshots_.find(scope.key(), token.snapshot);
  if (found == nullptr) return fail(Errc::gone, "the snapshot of the continue token is gone");
  const std::size_t most = limit == 0 ? found->objects.size() : limit;
  return sync::watch::cut_page(found->objects, found->version, token, most, !selects(found->scope));
}

}  // namespace holdfast::agent
