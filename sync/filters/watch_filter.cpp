#include "sync/filters/watch_filter.h"

namespace holdfast::sync::filters {
namespace {

watch::CacheEvent made_of(const watch::CacheEvent& event, watch::EventType type,
                          FilteredObject shown) {
  watch::CacheEvent made = event;
  made.type = type;
  if (shown.effect == Effect::changed) {
    made.object.bytes = std::make_shared<const std::string>(std::move(shown.bytes));
  }
  return made;
}

}  // namespace

Result<std::optional<Need>> WatchFilter::resume(const FilterView& view,
                                                const watch::WatchCache::Objects& objects,
                                                objects::Version version) {
  std::set<watch::ObjectKey> hidden;
  for (const auto& [key, object] : objects) {
    // An object that changed later arrives as an event. Its state at `version` is no longer known.
    if (object.version > version) continue;
    TRY(const watch::Bytes cached, object.bytes.load());
    TRY(const FilteredObject shown, filter_object(view.chain, *view.knowledge, *cached));
    if (shown.effect == Effect::unknown) return shown.need;
    if (shown.effect == Effect::dropped) hidden.insert(key);
  }
  hidden_ = std::move(hidden);
  return std::nullopt;
}

Result<FilteredEvents> WatchFilter::filter_event(const FilterView& view,
                                                 const watch::CacheEvent& event) {
  TRY(const watch::Bytes cached, event.object.bytes.load());
  TRY(FilteredObject shown, filter_object(view.chain, *view.knowledge, *cached));
  const bool hidden = hidden_.contains(event.key);
  FilteredEvents delivered;
  const bool deleted = event.type == watch::EventType::deleted;
  if (deleted && hidden) {
    hidden_.erase(event.key);
  } else if (shown.effect == Effect::unknown) {
    // This also applies to a deletion: the event would carry the object unfiltered.
    delivered.need = shown.need;
  } else if (deleted) {
    delivered.events.push_back(made_of(event, watch::EventType::deleted, std::move(shown)));
  } else if (shown.effect == Effect::dropped) {
    const bool seen = !hidden && event.type == watch::EventType::modified;
    if (seen)
      delivered.events.push_back(made_of(event, watch::EventType::deleted, std::move(shown)));
    hidden_.insert(event.key);
  } else {
    const watch::EventType type = hidden ? watch::EventType::added : event.type;
    delivered.events.push_back(made_of(event, type, std::move(shown)));
    hidden_.erase(event.key);
  }
  return delivered;
}

Result<FilteredEvents> WatchFilter::reconsider(const FilterView& before, const FilterView& now,
                                               const watch::WatchCache::Objects& objects,
                                               objects::Version delivered) {
  FilteredEvents changes;
  std::set<watch::ObjectKey> hidden = hidden_;
  for (const auto& [key, object] : objects) {
    if (object.version > delivered) continue;  // Its event follows.
    TRY(const watch::Bytes cached, object.bytes.load());
    TRY(FilteredObject old, filter_object(before.chain, *before.knowledge, *cached));
    TRY(FilteredObject shown, filter_object(now.chain, *now.knowledge, *cached));
    if (shown.effect == Effect::unknown) return FilteredEvents{.need = shown.need};
    const bool was_shown = !hidden.contains(key);
    const bool drops = shown.effect == Effect::dropped;
    if (old == shown || (drops && !was_shown)) continue;
    const watch::CacheEvent event{.key = key, .object = object};
    if (was_shown)
      changes.events.push_back(made_of(event, watch::EventType::deleted, std::move(old)));
    if (drops) {
      hidden.insert(key);
    } else {
      hidden.erase(key);
      changes.events.push_back(made_of(event, watch::EventType::added, std::move(shown)));
    }
  }
  hidden_ = std::move(hidden);
  return changes;
}

}  // namespace holdfast::sync::filters
