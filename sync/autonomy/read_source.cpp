#include "sync/autonomy/read_source.h"

#include <algorithm>

namespace holdfast::sync::autonomy {
namespace {

bool is_of_the_server(objects::Version version) {
  return version != 0 && !objects::is_local(version);
}

// Whether the cloud must be asked even if the cache is complete: the caller has seen a newer state,
// may no longer read it, or the cache does not learn of changes.
bool only_the_cloud_knows(const ReadFacts& facts) {
  if (!facts.learns_changes) return true;
  // A list that cannot be had, or not soon.
  if (!facts.is_complete && (!facts.is_healthy || facts.is_large)) return true;
  // A watch that is ahead of the cache waits until the cache has caught up.
  return !facts.is_watch && is_of_the_server(facts.version) && facts.version > facts.server_version;
}

// Whether this is a watch from a version of the cloud that is older than the cache's history. The
// cloud may still serve it: it keeps a longer history.
bool is_before_the_cache(const ReadFacts& facts) {
  return facts.is_complete && facts.is_watch && !facts.wants_initial_events &&
         is_of_the_server(facts.version) && !facts.reaches_version;
}

}  // namespace

Duration whole_answer_time(Duration limit) {
  return std::max<Duration>(limit / 4 * 3, std::chrono::seconds(5));
}

bool is_worth_waiting(bool is_under_way, bool is_delayed, Duration waited) {
  return is_under_way && !is_delayed && waited < first_list_limit;
}

ReadSource source_of(const ReadFacts& facts) {
  const bool needs_cloud =
      !facts.has_scope || only_the_cloud_knows(facts) || is_before_the_cache(facts);
  if (facts.link_allows_reads && !facts.was_asked && (facts.wants_newest || needs_cloud)) {
    const bool has_other = facts.is_complete && !needs_cloud;
    // The answer would come too late, and its bytes would be wasted.
    if (has_other && facts.answers_late && facts.is_healthy) return ReadSource::cache;
    return has_other ? ReadSource::cloud_before : ReadSource::cloud;
  }
  if (facts.is_complete) return ReadSource::cache;
  const bool may_arrive = facts.has_scope && facts.link_allows_reads && facts.is_healthy;
  // On a slow path that may take a while. The cache of an API server lets readers wait as well.
  const bool is_soon_here = facts.is_arriving && !facts.is_large;
  return may_arrive && (!facts.has_waited || is_soon_here) ? ReadSource::wait : ReadSource::nothing;
}

}  // namespace holdfast::sync::autonomy
