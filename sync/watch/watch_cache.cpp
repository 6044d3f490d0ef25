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
               !before->bytes.seems_equal(object.bytes)) {
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
  const bool go_on = complete_ && !has_local_events_ && grows && show_deletions(changes);
  objects_ = std::move(objects);
  object_bytes_ = bytes_of(objects_);
  settled_.clear();
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

bool WatchCache::show_deletions(std::vector<CacheEvent>& changes) const {
  std::size_t bytes = 0;
  std::size_t events = 0;
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    bytes += change->object.bytes.size();
    if (++events > limits_.events || (bytes > limits_.bytes && events > 1)) break;
    if (change->type != EventType::deleted) continue;
    const auto cached = change->object.bytes.load();
    if (!cached) return false;
    auto shown = with_version(**cached, change->object.version);
    if (shown) change->object.bytes = std::make_shared<const std::string>(*std::move(shown));
  }
  return true;
}

void WatchCache::restore(Objects objects, objects::Version version, wire::ScopeKind kind) {
  CHECK(!complete_);
  objects_ = std::move(objects);
  object_bytes_ = bytes_of(objects_);
  kind_ = std::move(kind);
  break_off_history(version);
  has_local_events_ = objects::is_local(version);
  was_restored_local_ = has_local_events_;
  if (has_local_events_) server_version_ = newest_server_version(objects_);
  complete_ = true;
}

bool WatchCache::apply(CacheEvent event) {
  CHECK(complete_);
  if (event.object.version <= version_) {
    // After local writes a list or a new watch follows, which shows this event again.
    const bool is_news = has_local_events_ && event.object.version > server_version_;
    has_missed_events_ = has_missed_events_ || is_news;
    return false;
  }
  set_version(event.object.version);
  if (!objects::is_local(event.object.version) && is_outdated(event)) return false;
  const bool is_known = find(event.key) != nullptr;
  if (event.type == EventType::deleted) {
    if (!is_known) return false;
    put(event.key, std::nullopt);
  } else {
    event.type = is_known ? EventType::modified : EventType::added;
    put(event.key, event.object);
  }
  push(std::move(event));
  return true;
}

bool WatchCache::is_outdated(const CacheEvent& event) {
  const auto found = settled_.find(event.key);
  if (found == settled_.end()) return false;
  const Settled& settled = found->second;
  const bool is_same = settled.uid == event.object.uid;
  const bool deletes = event.type == EventType::deleted;
  const bool is_older = is_same && (!settled.version || event.object.version < *settled.version);
  if (deletes || !is_older) settled_.erase(found);
  // An object may leave the scope and return to it before the version that was settled.
  return is_older && (!deletes || find(event.key) == nullptr);
}

void WatchCache::put(const ObjectKey& key, std::optional<CachedObject> object) {
  if (const CachedObject* known = find(key)) {
    object_bytes_ -= known->bytes.size() + object_overhead;
  }
  if (!object) {
    objects_.erase(key);
    return;
  }
  object_bytes_ += object->bytes.size() + object_overhead;
  objects_[key] = *std::move(object);
}

void WatchCache::bookmark(objects::Version version) { set_version(std::max(version_, version)); }

void WatchCache::set_version(objects::Version version) {
  version_ = version;
  if (!objects::is_local(version)) server_version_ = version;
}

bool WatchCache::apply_local(CacheEvent event) {
  CHECK(objects::is_local(event.object.version) && event.object.version > version_);
  has_local_events_ = true;
  if (!written_.contains(event.key)) {
    const CachedObject* known = find(event.key);
    if (known != nullptr) written_bytes_ += known->bytes.size() + object_overhead;
    written_[event.key] = known != nullptr ? std::optional(*known) : std::nullopt;
  }
  return apply(std::move(event));
}

bool WatchCache::follows(const std::optional<CachedObject>& before,
                         const std::optional<CachedObject>& now) const {
  if (!before) return false;
  if (!now) return true;
  if (now->uid != before->uid) return false;
  // All events up to server_version() were applied, so an older state is one that was shown.
  return now->version == before->version || now->version > server_version_;
}

// A deleted pod must not come back for a moment.
bool WatchCache::may_return(const ObjectKey& key, const std::optional<CachedObject>& before) const {
  const CachedObject* now = find(key);
  return before && now != nullptr && now->uid == before->uid && before->bytes.load();
}

bool WatchCache::settle(const States& answered) {
  if (!has_local_events_ || was_restored_local_) return false;
  for (const auto& [key, before] : written_) {
    const auto now = answered.find(key);
    const bool possible =
        now == answered.end() ? may_return(key, before) : follows(before, now->second);
    if (!possible) return false;
  }
  for (const auto& [key, before] : written_) {
    const auto found = answered.find(key);
    if (found == answered.end()) {
      put(key, before);
      continue;
    }
    const std::optional<CachedObject>& now = found->second;
    // The cached bytes are the server's own.
    const bool is_unchanged =
        now && now->version == before->version && before->bytes.load().has_value();
    put(key, is_unchanged ? before : now);
    settled_[key] = {before->uid, now ? std::optional(now->version) : std::nullopt};
  }
  break_off_history(server_version_);
  return true;
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
  event_bytes_ += event.object.bytes.size();
  events_.push_back(std::move(event));
  while (events_.size() > limits_.events || (event_bytes_ > limits_.bytes && events_.size() > 1)) {
    history_from_ = events_.front().object.version;
    event_bytes_ -= events_.front().object.bytes.size();
    events_.pop_front();
    ++first_;
  }
}

std::size_t WatchCache::bytes_of(const Objects& objects) {
  std::size_t bytes = 0;
  for (const auto& [key, object] : objects) bytes += object.bytes.size() + object_overhead;
  return bytes;
}

std::size_t WatchCache::memory_bytes_of(const Objects& objects) {
  std::size_t bytes = 0;
  for (const auto& [key, object] : objects) bytes += memory_of(object);
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
  has_missed_events_ = false;
  was_restored_local_ = false;
  written_.clear();
  written_bytes_ = 0;
}

void WatchCache::check_invariants() const {
  CHECK(object_bytes_ == bytes_of(objects_));
  CHECK(events_.size() <= limits_.events);
  std::size_t bytes = 0;
  for (const CacheEvent& event : events_) bytes += event.object.bytes.size();
  CHECK(event_bytes_ == bytes);
  bytes = 0;
  for (const auto& [key, object] : written_) {
    if (object) bytes += object->bytes.size() + object_overhead;
  }
  CHECK(written_bytes_ == bytes);
  CHECK(written_.empty() || has_local_events_);
}

}  // namespace holdfast::sync::watch
