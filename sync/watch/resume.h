// Whether a scope continues its watch where it was, after an outage or a restart of the agent, or
// is listed again.
//
// A watch from a version that the API server has not reached yet stays silent and shows objects
// that are gone. So a scope continues only if the API server has shown, since then, that its
// versions are at least as new as those of all scopes: etcd counts the changes of all objects in
// one sequence. They are older if its data was replaced by older data.
//
// Pure.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "sync/objects/version.h"
#include "sync/watch/watch_cache.h"

namespace holdfast::sync::watch {

// What speaks against the objects of a scope, besides their version.
enum class Doubt : std::uint8_t {
  none,
  derived,     // they were copied from another scope and never received
  outdated,    // they may belong to data that the API server does not have any more
  unreadable,  // its list or watch was refused, failed or was too large, and would be so again
};

class Resumption {
 public:
  // A connection begins: `shown` is the newest version that the API server has shown on it; 0:
  // none, so that every scope is listed.
  void begin(objects::Version shown) {
    shown_ = shown;
    is_behind_ = false;
  }
  // Call it for every scope whose versions are of the same sequence, before the first
  // resume_from().
  void note(const WatchCache& cache) {
    is_behind_ = is_behind_ || (cache.complete() && cache.server_version() > shown_);
  }

  // The API server has shown a newer version on this connection.
  void note_shown(objects::Version version) { shown_ = std::max(shown_, version); }

  // The version at which the scope's watch continues; "": it is listed. It is also listed after
  // writes that were accepted locally, unless WatchCache::settle() has ended their versions or
  // `is_settled_later`.
  [[nodiscard]] std::string resume_from(const WatchCache& cache, Doubt doubt = Doubt::none,
                                        bool is_settled_later = false) const {
    const bool sound = cache.complete() && doubt == Doubt::none;
    const bool is_local = cache.has_local_events() && !is_settled_later;
    const bool continues = sound && !is_local && !is_behind_;
    const objects::Version version = cache.server_version();
    return continues && version > 0 && version <= shown_ ? std::to_string(version) : "";
  }

 private:
  objects::Version shown_ = 0;
  bool is_behind_ = false;
};

}  // namespace holdfast::sync::watch
