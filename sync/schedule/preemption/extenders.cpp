#include "sync/schedule/preemption/extenders.h"

#include <algorithm>

#include "platform/check.h"
#include "sync/wire/quote.h"

namespace holdfast::sync::schedule {
namespace {

bool asks_for(const std::vector<Container>& containers, const ExtenderSettings& extender) {
  const auto managed = [&extender](const auto& entry) {
    return extender.managed_resources.contains(entry.first);
  };
  return std::any_of(containers.begin(), containers.end(), [&managed](const Container& each) {
    const auto& [limits, requests, unknown] = each.resources;
    return std::any_of(requests.begin(), requests.end(), managed) ||
           std::any_of(limits.begin(), limits.end(), managed);
  });
}

std::string no_victims(const std::string& node) {
  return "expected at least one victim pod on node " + wire::quoted(node);
}

// The victims on one node, found by uid. Errors: not_found.
Result<std::vector<PodRef>> pods_of(const Cluster& cluster, const ExtenderSettings& extender,
                                    const std::string& node, const MetaVictims& victims) {
  const NodeView* view = cluster.find(node);
  if (view == nullptr) {
    return fail(Errc::not_found, "nodeinfo not found for node name " + wire::quoted(node));
  }
  std::vector<PodRef> pods;
  for (const std::string& uid : victims.uids) {
    const auto at = std::find_if(view->pods.begin(), view->pods.end(),
                                 [&uid](const PodRef& pod) { return pod->uid() == uid; });
    if (at == view->pods.end()) {
      return fail(Errc::not_found,
                  "extender: " + extender.url + " claims to preempt pod (UID: " + uid +
                      ") on node: " + node + ", but the pod is not found on that node");
    }
    pods.push_back(*at);
  }
  return pods;
}

}  // namespace

bool interested(const ExtenderSettings& extender, const Pod& pod) {
  return extender.managed_resources.empty() || asks_for(pod.spec.containers, extender) ||
         asks_for(pod.spec.init_containers, extender);
}

ExtenderRound::ExtenderRound(std::vector<ExtenderSettings> extenders, const Pod& pod,
                             std::vector<Candidate> candidates)
    : extenders_(std::move(extenders)), candidates_(std::move(candidates)) {
  std::erase_if(extenders_, [&pod](const ExtenderSettings& each) {
    return !each.preempts || !interested(each, pod);
  });
}

const ExtenderSettings* ExtenderRound::next() const {
  if (!fit_status_.ok() || candidates_.empty() || at_ == extenders_.size()) return nullptr;
  return &extenders_[at_];
}

void ExtenderRound::fail_with(const ExtenderSettings& extender, std::string what) {
  if (extender.ignorable) {
    ignored_.push_back(extender.url + ": " + what);
  } else {
    fit_status_ = reject(Code::error, std::move(what));
  }
}

void ExtenderRound::answer(const Cluster& cluster, const Result<ExtenderAnswer>& answer) {
  CHECK(next() != nullptr);
  const ExtenderSettings& extender = extenders_[at_++];
  if (!answer) return fail_with(extender, answer.error().what);
  std::vector<Candidate> left;
  for (const auto& [node, victims] : *answer) {
    if (victims.uids.empty()) {
      fail_with(extender, no_victims(node));
      if (!fit_status_.ok()) return;
      continue;
    }
    auto pods = pods_of(cluster, extender, node, victims);
    // An answer with unknown nodes or pods counts as a failure of the extender: the candidates
    // stay.
    if (!pods) return fail_with(extender, pods.error().what);
    left.push_back({node, std::move(*pods), victims.violations});
  }
  candidates_ = std::move(left);
}

}  // namespace holdfast::sync::schedule
