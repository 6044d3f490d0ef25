// Filters the events of one client's watch. Pure.
//
// When an object becomes dropped, the client gets DELETED if it may have seen it, and nothing
// otherwise. When such an object returns, the client gets ADDED. What the filters know may change
// while a watch is open; reconsider() then returns events for the objects that look different.

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "sync/filters/chain.h"
#include "sync/watch/watch_cache.h"

namespace holdfast::sync::filters {

// How one component sees one resource. A FilterView is never changed, only replaced.
struct FilterView {
  FilterChain chain;
  std::shared_ptr<const FilterKnowledge> knowledge;  // never null
};

// What the client gets for one event, in order. If `need` is set, something must be known first:
// pass in the event again after that has changed.
struct FilteredEvents {
  std::vector<watch::CacheEvent> events = {};
  std::optional<Need> need = {};
};

class WatchFilter {
 public:
  // Starts at `version`, up to which the client got everything except what `view` drops. Returns
  // what must be known first; in that case nothing has changed. Errors: as filter_object().
  [[nodiscard]] Result<std::optional<Need>> resume(const FilterView& view,
                                                   const watch::WatchCache::Objects& objects,
                                                   objects::Version version);

  // Filters one event, also a deletion, which carries the object. Returns a need, and changes
  // nothing, if the effect is unknown; a deletion that the client does not get needs nothing.
  // Errors: as filter_object().
  [[nodiscard]] Result<FilteredEvents> filter_event(const FilterView& view,
                                                    const watch::CacheEvent& event);

  // Call this when the view changes from `before` to `now`. The client has got all `objects` up to
  // version `delivered`. An object that looks different is deleted and added again: its version has
  // not changed, and clients' caches ignore a modification with the same version. Errors: as
  // filter_object().
  [[nodiscard]] Result<FilteredEvents> reconsider(const FilterView& before, const FilterView& now,
                                                  const watch::WatchCache::Objects& objects,
                                                  objects::Version delivered);

 private:
  std::set<watch::ObjectKey> hidden_;  // objects that exist but are hidden from the client
};

}  // namespace holdfast::sync::filters
