#include "sync/lifecycle/direct_eviction.h"

#include <utility>

#include "platform/check.h"
#include "sync/objects/selector.h"

namespace holdfast::sync::lifecycle {

bool selects(const DaemonSet& set, const PodFacts& pod) {
  if (set.metadata.namespace_name != pod.namespace_name) return false;
  const auto query = objects::LabelQuery::from(set.spec.selector);
  return query && !query->matches_everything() && query->matches(pod.labels);
}

DirectEviction::DirectEviction(const NodeFacts& node, std::vector<PodFacts> pods,
                               std::set<std::string> exempt)
    : node_(node), pods_(std::move(pods)), exempt_(std::move(exempt)) {}

std::optional<Effect> DirectEviction::next() {
  while (at_ < pods_.size()) {
    const PodFacts& pod = pods_[at_];
    switch (std::exchange(step_, Step::remove)) {
      case Step::announce:
        step_ = Step::mark;
        return node_event(
            node_, false, "DeletingAllPods",
            "Node " + node_.name + " event: Deleting all Pods from Node " + node_.name + ".");
      case Step::mark:
        step_ = Step::record_event;
        if (pod.node_lost) break;
        return MarkPodLost{ref_of(pod), "Node " + node_.name + " which was running pod " +
                                            pod.name + " is unresponsive"};
      case Step::record_event:
        if (!to_delete(pod)) {
          next_pod();
          break;
        }
        return pod_event(EventSource::lifecycle, ref_of(pod), false, "NodeControllerEviction",
                         "Marking for deletion Pod " + pod.name + " from Node " + node_.name);
      case Step::remove:
        return DeletePod{ref_of(pod)};
    }
  }
  return std::nullopt;
}

void DirectEviction::settle(const Outcome& outcome) {
  CHECK(at_ < pods_.size());
  if (step_ == Step::record_event) {
    // The outcome of MarkPodLost. As upstream, the pod is skipped after a conflict and deleted
    // after any other error.
    if (outcome.error != Errc::conflict) return;
    failed_ = true;
    next_pod();
  } else if (outcome.ok() || outcome.error == Errc::not_found) {
    next_pod();
  } else {
    failed_ = true;
    at_ = pods_.size();
  }
}

bool DirectEviction::to_delete(const PodFacts& pod) const {
  return !pod.terminating && !exempt_.contains(pod.key());
}

void DirectEviction::next_pod() {
  ++at_;
  step_ = Step::mark;
}

}  // namespace holdfast::sync::lifecycle
