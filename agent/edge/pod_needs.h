// Knows which objects the pods of this node refer to, and keeps those up to date that can only be
// got one by one.
//
// A PersistentVolumeClaim, its volume and a ResourceClaim are got when a pod that refers to them
// appears or its spec changes: nothing else would tell that they changed.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>
#include <vector>

#include "agent/edge/feeders.h"
#include "agent/edge/options.h"
#include "agent/edge/scopes.h"
#include "sync/autonomy/references.h"

namespace holdfast::agent {

struct PodNeedsLimits {
  Duration gather = std::chrono::seconds(2);  // changes of pods come in groups
  // What a client got so lately is not got again: the kubelet has asked for it itself.
  Duration fresh = std::chrono::seconds(10);
};

class PodNeeds {
 public:
  // All are borrowed.
  PodNeeds(const EdgeOptions& options, Scopes& scopes, Feeders& feeders, const Clock& clock);

  // Follows the pods. Runs until cancelled.
  asio::awaitable<void> follow();

  // Takes over what the cache has now. Cheap when no pod has changed.
  void update();
  // What the node's pods refer to, or null while they were not completely listed in this run.
  [[nodiscard]] const sync::NeededObjects* all() const { return known_ ? &all_ : nullptr; }
  // Whether a pod, as far as pods are known at all, needs what the scope holds.
  [[nodiscard]] bool is_needed(const LocalScope& scope) const;

 private:
  // What one pod, claim or attachment refers to, as of `bytes`.
  struct Read {
    sync::Bytes bytes;
    std::int64_t generation = 0;
    sync::NeededObjects references = {};
  };
  using Index = std::map<sync::ObjectKey, Read>;
  // Returns what is to be got anew.
  [[nodiscard]] sync::NeededObjects read_pods();
  [[nodiscard]] static Result<Read> read_pod(const LocalScope& scope,
                                             const sync::CachedObject& pod);
  void add_volumes();
  // The scopes that hold just this object, as it was got.
  [[nodiscard]] std::vector<ScopePtr> scopes_of(const sync::NeededObject& object) const;
  void get(const sync::NeededObject& object);
  [[nodiscard]] bool holds_all_pods(const LocalScope& scope) const;

  const EdgeOptions& options_;
  Scopes& scopes_;
  Feeders& feeders_;
  const Clock& clock_;
  Index pods_;
  std::string encoding_;  // in which the pods are fetched
  sync::NeededObjects all_;
  bool known_ = false;
};

}  // namespace holdfast::agent
