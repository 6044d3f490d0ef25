// One client's watch through filters: which events it gets, and as what.
//
// An object that is dropped is deleted for the client if it may have seen it, and of no concern to
// it otherwise; one that comes back is added. What the filters know may change while a watch is
// open: the client is then told of the objects that it would be shown otherwise now.

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "sync/filters/chain.h"
#include "sync/watch/watch_cache.h"

namespace holdfast::sync::filters {

// How one component sees one resource; never changes, is replaced.
struct FilterView {
  FilterChain chain;
  std::shared_ptr<const FilterKnowledge> knowledge;  // never null
};

// Of one event: what the client gets, in order. Or nothing, for lack of knowledge: the event is to
// be told again once that has changed.
struct FilteredEvents {
  std::vector<CacheEvent> events = {};
  std::optional<Need> need = {};
};

class WatchFilter {
 public:
  // The client goes on from `version`, at which it had been told all but what `view` drops.
  // Returns what is not known; then nothing has changed. Errors: as show().
  [[nodiscard]] Result<std::optional<Need>> resume(const FilterView& view,
                                                   const WatchCache::Objects& objects,
                                                   Version version);

  // Errors: as show().
  [[nodiscard]] Result<FilteredEvents> tell(const FilterView& view, const CacheEvent& event);

  // The client was told of all `objects` up to version `told` by `before`. One that looks different
  // by `now` is deleted and added: its version is that of before, and caches of clients pass over
  // changes that do not change the version. Errors: as show().
  [[nodiscard]] Result<FilteredEvents> reconsider(const FilterView& before, const FilterView& now,
                                                  const WatchCache::Objects& objects, Version told);

 private:
  std::set<ObjectKey> hidden_;  // there, and not shown to the client
};

}  // namespace holdfast::sync::filters
