#include "agent/edge/cache/list_snapshots.h"

#include <algorithm>
#include <utility>

namespace holdfast::agent {
namespace {

// An object that only two snapshots share is not counted. SnapshotLimits::bytes bounds those.
std::size_t unshared_bytes(const ListSnapshot& snapshot) {
  std::size_t bytes = 0;
  for (const auto& [key, object] : snapshot.objects) {
    bytes += sync::watch::object_overhead;
    if (object.bytes.use_count() == 1) bytes += object.bytes.memory_bytes();
  }
  return bytes;
}

}  // namespace

const ListSnapshot* ListSnapshots::renew(const store::ScopeKey& scope,
                                         sync::objects::Version version) {
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&scope, version](const Kept& each) {
    return each.snapshot.scope == scope && each.snapshot.version == version;
  });
  if (found == kept_.end()) return nullptr;
  found->until = clock_.mono() + limits_.lifetime;
  std::rotate(found, std::next(found), kept_.end());
  return &kept_.back().snapshot;
}

const ListSnapshot* ListSnapshots::find(const store::ScopeKey& scope, std::uint64_t id) {
  drop_expired();
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&scope, id](const Kept& each) {
    return each.snapshot.id == id && each.snapshot.scope == scope;
  });
  return found == kept_.end() ? nullptr : &found->snapshot;
}

void ListSnapshots::keep(ListSnapshot snapshot) {
  const std::size_t bytes = sync::watch::WatchCache::memory_bytes_of(snapshot.objects);
  std::size_t all = bytes;
  for (const Kept& each : kept_) all += each.bytes;
  while (!kept_.empty() && (kept_.size() >= limits_.count || all > limits_.bytes)) {
    all -= kept_.front().bytes;
    kept_.pop_front();
  }
  kept_.push_back({std::move(snapshot), bytes, clock_.mono() + limits_.lifetime});
}

void ListSnapshots::drop_expired() {
  std::erase_if(kept_, [now = clock_.mono()](const Kept& each) { return each.until <= now; });
}

void ListSnapshots::limit_unshared(std::size_t bytes) {
  drop_expired();
  std::size_t most = 0;
  for (const Kept& each : kept_) most += each.bytes;
  if (most <= bytes) return;
  const auto unshared = [this] {
    std::size_t all = 0;
    for (const Kept& each : kept_) all += unshared_bytes(each.snapshot);
    return all;
  };
  // Counted again after each one: the next one alone now holds what the two had shared.
  while (!kept_.empty() && unshared() > bytes) kept_.pop_front();
}

}  // namespace holdfast::agent
