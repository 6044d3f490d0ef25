#include "sync/watch/watch_cache.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "platform/check.h"
#include "platform/integers.h"

namespace holdfast::sync::watch {
namespace {

// Gives each deletion a version of its own after `seen` and up to `list`, the highest that is free.
// The real version is unknown. A shared version would be wrong: a client that has seen one of
// several events must not miss the others. Returns false if there are not enough free versions.
bool number_deletions(std::vector<CacheEvent>& changes, objects::Version seen,
                      objects::Version list) {
  std::set<objects::Version> taken;
  for (const CacheEvent& change : changes) {
    if (change.type == EventType::deleted) continue;
    if (!taken.insert(change.object.version).second) return false;
  }
  objects::Version next = list;
  for (CacheEvent& change : changes) {
    if (change.type != EventType::deleted) continue;
    while (taken.contains(next)) --next;
    if (next <= seen) return false;
    change.object.version = next--;
    // Clients read the version at which they continue from the object.
    auto bytes = with_version(*change.object.bytes, change.object.version);
    if (bytes) change.object.bytes = std::make_shared<const std::string>(*std::move(bytes));
  }
  return true;
}

// The newest version of the server among the objects; 0 if there is none.
objects::Version newest_server_version(const WatchCache::Objects& objects) {
  objects::Version newest = 0;
  for (const auto& [key, object] : objects) {
    if (!objects::is_local(object.version)) newest = std::max(newest, object.version);
  }
  return newest;
}

}  // namespace

std::strong_ordering ObjectKey::operator<=>(const ObjectKey& other) const {
  const std::string& mine = namespace_name;
  const std::string& theirs = other.namespace_name;
  const std::size_t common = std::min(mine.size(), theirs.size());
  if (const int order = mine.compare(0, common, theirs, 0, common); order != 0) return order <=> 0;
  if (mine.size() > common) return mine[common] <=> '/';
  if (theirs.size() > common) return '/' <=> theirs[common];
  return name <=> other.name;
}

WatchCache::WatchCache(WatchCacheLimits limits) : limits_(limits) { CHECK(limits.events > 0); }

const CachedObject* WatchCache::find(const ObjectKey& key) const {
  const auto at = objects_.find(key);
  return at == objects_.end() ? nullptr : &at->second;
}

std::vector<CacheEvent> WatchCache::replace(Objects objects, objects::Version version,
                                            wire::ScopeKind kind) {
  std::vector<CacheEvent> changes;
  for (const auto& [key, object] : objects) {
    const CachedObject* before = find(key);
    if (before == nullptr) {
      changes.push_back({EventType::added, key, object});
    } else if (before->uid != object.uid || before->version != object.version ||
               *before->bytes != *object.bytes) {
      changes.push_back({EventType::modified, key, object});
    }
  }
  for (const auto& [key, object] : objects_) {
    if (objects.contains(key)) continue;
    changes.push_back({EventType::deleted, key, {object.uid, version, object.bytes}});
  }
  const bool numbered = number_deletions(changes, version_, version);
  std::stable_sort(changes.begin(), changes.end(), [](const CacheEvent& a, const CacheEvent& b) {
    return a.object.version < b.object.version;
  });

  // Versions that do not grow belong to another history, for example of a server restored from a
  // backup.
  const bool grows = numbered && version >= version_ &&
                     (changes.empty() || changes.front().object.version > version_);
  const bool go_on = complete_ && !has_local_events_ && grows;
  objects_ = std::move(objects);
  object_bytes_ = bytes_of(objects_);
  kind_ = std::move(kind);
  if (go_on) {
    for (const CacheEvent& change : changes) push(change);
    set_version(version);
  } else {
    break_off_history(version);
  }
  complete_ = true;
  return changes;
}

void WatchCache::restore(Objects objects, objects::Version version, wire::ScopeKind kind) {
  CHECK(!complete_);
  objects_ = std::move(objects);
  object_bytes_ = bytes_of(objects_);
  kind_ = std::move(kind);
  break_off_history(version);
  has_local_events_ = objects::is_local(version);
  if (has_local_events_) server_version_ = newest_server_version(objects_);
  complete_ = true;
}

bool WatchCache::apply(CacheEvent event) {
  CHECK(complete_);
  // After local writes the reflector lists before it continues, so an older event is outdated.
  if (event.object.version <= version_) return false;
  set_version(event.object.version);
  const CachedObject* known = find(event.key);
  if (known != nullptr) object_bytes_ -= known->bytes->size() + object_overhead;
  if (event.type == EventType::deleted) {
    if (objects_.erase(event.key) == 0) return false;
  } else {
    event.type = known != nullptr ? EventType::modified : EventType::added;
    object_bytes_ += event.object.bytes->size() + object_overhead;
    objects_[event.key] = event.object;
  }
  push(std::move(event));
  return true;
}

void WatchCache::bookmark(objects::Version version) { set_version(std::max(version_, version)); }

void WatchCache::set_version(objects::Version version) {
  version_ = version;
  if (!objects::is_local(version)) server_version_ = version;
}

bool WatchCache::apply_local(CacheEvent event) {
  CHECK(objects::is_local(event.object.version) && event.object.version > version_);
  has_local_events_ = true;
  return apply(std::move(event));
}

Result<WatchCache::Position> WatchCache::position_of(objects::Version version) const {
  if (version < history_from_) return fail(Errc::gone, "too old resource version");
  if (objects::is_local(version) && (!has_local_events_ || version > version_)) {
    return fail(Errc::gone, "the local resource version was replaced by the API server's");
  }
  const auto later = [](objects::Version seen, const CacheEvent& event) {
    return seen < event.object.version;
  };
  const auto next = std::upper_bound(events_.begin(), events_.end(), version, later);
  return first_ + static_cast<Position>(std::distance(events_.begin(), next));
}

Result<const CacheEvent*> WatchCache::at(Position position) const {
  if (position < first_) return fail(Errc::gone, "the history of this watch is gone");
  CHECK(position <= end());
  return position == end() ? nullptr : &events_[to_size(position - first_)];
}

void WatchCache::push(CacheEvent event) {
  event_bytes_ += event.object.bytes->size();
  events_.push_back(std::move(event));
  while (events_.size() > limits_.events || (event_bytes_ > limits_.bytes && events_.size() > 1)) {
    history_from_ = events_.front().object.version;
    event_bytes_ -= events_.front().object.bytes->size();
    events_.pop_front();
    ++first_;
  }
}

std::size_t WatchCache::bytes_of(const Objects& objects) {
  std::size_t bytes = 0;
  for (const auto& [key, object] : objects) bytes += object.bytes->size() + object_overhead;
  return bytes;
}

void WatchCache::forget_events() {
  if (events_.empty()) return;
  history_from_ = events_.back().object.version;
  first_ = end();
  events_.clear();
  event_bytes_ = 0;
}

void WatchCache::break_off_history(objects::Version version) {
  // Skips one position, so that a watch that waits at the old end gets `gone`, too.
  first_ = end() + 1;
  events_.clear();
  event_bytes_ = 0;
  history_from_ = version;
  set_version(version);
  has_local_events_ = false;
}

void WatchCache::check_invariants() const {
  CHECK(object_bytes_ == bytes_of(objects_));
  CHECK(events_.size() <= limits_.events);
  std::size_t bytes = 0;
  for (const CacheEvent& event : events_) bytes += event.object.bytes->size();
  CHECK(event_bytes_ == bytes);
}

}  // namespace holdfast::sync::watch
