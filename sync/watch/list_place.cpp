#include "sync/watch/list_place.h"

#include <algorithm>
#include <string>

#include "sync/watch/watch_cache.h"

namespace holdfast::sync::watch {

bool belongs_on_disk(std::string_view owner, const Failure& failure, const CacheLimits& limits) {
  return failure.list_too_large && limits.may_keep_on_disk(owner);
}

Result<ListPlace> place_of(std::string_view owner, std::size_t objects, std::size_t bytes,
                           const ScopeBytes& held, const CacheLimits& limits) {
  const auto fits = [&held, &limits, owner, objects](std::size_t in_memory) {
    return has_room_for({.owner = std::string(owner), .objects = objects, .bytes = in_memory}, held,
                        limits);
  };
  if (fits(bytes + objects * object_overhead)) return ListPlace::memory;
  if (limits.may_keep_on_disk(owner) && bytes <= limits.list_bytes() &&
      fits(objects * (object_overhead + place_overhead))) {
    return ListPlace::disk;
  }
  return fail(Errc::exhausted, std::to_string(objects) + " objects with " + std::to_string(bytes) +
                                   " bytes exceed the limits of the cache");
}

bool returns_to_memory(std::string_view owner, std::size_t objects, std::size_t bytes,
                       const ScopeBytes& held, const CacheLimits& limits) {
  CacheLimits with_spare = limits;
  with_spare.scope_bytes = limits.scope_bytes / 4 * 3;
  return place_of(owner, objects, bytes, held, with_spare) == ListPlace::memory;
}

Status check_share(std::int64_t used, std::int64_t most) {
  if (most == 0 || used <= most / 100 * lists_share) return {};
  return fail(Errc::exhausted, "cached lists already take " + std::to_string(used) +
                                   " bytes of cache.db, see --cache-disk-max");
}

Status check_list_bytes(std::size_t bytes, const CacheLimits& limits) {
  if (bytes <= limits.list_bytes()) return {};
  return fail(Errc::exhausted, "more than " + std::to_string(limits.list_bytes()) +
                                   " bytes on disk, see --cache-disk-max");
}

bool must_be_written(std::size_t objects, std::size_t memory) {
  const std::size_t when_written = objects * (object_overhead + place_overhead);
  return memory > when_written + unwritten_max;
}

bool may_take_back(std::size_t held, std::size_t bytes) { return held + bytes <= taken_back_max; }

}  // namespace holdfast::sync::watch
