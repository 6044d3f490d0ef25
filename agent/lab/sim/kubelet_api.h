// What a kubelet talks to, and what it receives from there.

#pragma once

#include <vector>

#include "agent/lab/sim/engine.h"
#include "agent/lab/sim/rest.h"

namespace holdfast::agent::lab::sim {

// Receives the pods of a node.
class PodSink {
 public:
  virtual ~PodSink() = default;
  virtual void take_list(std::vector<PodPtr> pods) = 0;
  virtual void take_change(ChangeType type, PodPtr pod) = 0;
};

// The edge agent on the kubelet's node, or the API server itself.
class KubeletApi {
 public:
  virtual ~KubeletApi() = default;
  virtual void renew_lease(const Life& life, WallTime now, Done done) = 0;
  virtual void write(const Life& life, Request request, Done done) = 0;
  // The Node as the kubelet's informer has it; null if it was never received.
  [[nodiscard]] virtual NodePtr node() const = 0;
  // Delivers a list as soon as there is one, then changes; after an interruption a list again.
  // `sink` must outlive this; calling it again begins anew.
  virtual void follow_pods(PodSink& sink) = 0;
  virtual void unfollow_pods() = 0;
  // Of the node, to the cloud.
  [[nodiscard]] virtual Link& link() = 0;
};

}  // namespace holdfast::agent::lab::sim
