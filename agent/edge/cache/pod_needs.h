// Knows which objects the pods of this node refer to, and keeps those up to date that can only be
// fetched one by one.
//
// A PersistentVolumeClaim, its volume and a ResourceClaim are fetched when a pod that refers to
// them appears or its spec changes, because no watch reports their changes.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/edge/cache/scope_reflectors.h"
#include "agent/edge/cache/scopes.h"
#include "sync/autonomy/references.h"

namespace holdfast::agent {

struct PodNeedsLimits {
  Duration gather = std::chrono::seconds(2);  // changes of pods within this are handled together
  // What a client fetched within this time is not fetched again: the kubelet has requested it
  // itself.
  Duration fresh = std::chrono::seconds(10);
};

class PodNeeds {
 public:
  // All references are borrowed.
  PodNeeds(std::string node_name, Scopes& scopes, ScopeReflectors& reflectors, const Clock& clock);

  // Calls update() whenever scopes have changed. Runs until cancelled.
  asio::awaitable<void> follow();

  // Reads the pods in the cache and fetches what they refer to. Cheap when no pod has changed.
  void update();
  // All objects that the node's pods refer to; null if the pods were not completely listed in this
  // run.
  [[nodiscard]] const sync::autonomy::NeededObjects* all() const {
    return known_ ? &all_ : nullptr;
  }
  // The UIDs of the node's pods, under the same condition.
  [[nodiscard]] std::optional<std::set<std::string>> pod_uids() const;

 private:
  // What a pod refers to, and the object's bytes from which it was read.
  struct Read {
    sync::watch::Body bytes;
    std::string uid = {};
    std::int64_t generation = 0;
    sync::autonomy::NeededObjects references = {};
  };
  using Index = std::map<sync::watch::ObjectKey, Read>;
  // Reads all pods. Returns the references of new and changed pods, which are to be fetched.
  [[nodiscard]] sync::autonomy::NeededObjects read_pods();
  [[nodiscard]] static Result<Read> read_pod(const LocalScope& scope,
                                             const sync::watch::CachedObject& pod);
  void add_volumes();
  // The scopes that hold exactly this object, fetched by name.
  [[nodiscard]] std::vector<ScopePtr> scopes_of(const sync::autonomy::NeededObject& object) const;
  void get(const sync::autonomy::NeededObject& object);
  [[nodiscard]] bool holds_all_pods(const LocalScope& scope) const;

  const std::string node_name_;
  Scopes& scopes_;
  ScopeReflectors& reflectors_;
  const Clock& clock_;
  Index pods_;
  std::string encoding_;  // of the scopes that hold pods
  sync::autonomy::NeededObjects all_;
  bool known_ = false;
};

}  // namespace holdfast::agent
