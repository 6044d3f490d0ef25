#include "sync/runtime/pod_runtime.h"

#include <algorithm>
#include <set>

#include "platform/check.h"
#include "platform/text.h"

namespace holdfast::sync::runtime {
namespace {

const ObservedPod& observed_of(const ObservedPods& observed, const std::string& uid) {
  static const ObservedPod nothing;
  const auto found = observed.find(uid);
  return found == observed.end() ? nothing : found->second;
}

PodStep pod_step(const RuntimeStep& step, const std::string& uid) {
  return {step.now, step.now_wall, observed_of(step.observed, uid), step.configs};
}

}  // namespace

bool is_safe_name(std::string_view name) {
  constexpr std::size_t longest = 253;
  const auto is_safe = [](char c) { return is_alnum(c) || c == '-'; };
  return !name.empty() && name.size() <= longest && std::all_of(name.begin(), name.end(), is_safe);
}

bool is_runnable(const Pod& pod) {
  if (!is_safe_name(pod.metadata.uid) || pod.spec.containers.empty()) return false;
  std::set<std::string_view> names;
  for (const auto* containers : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const Container& container : *containers) {
      if (!is_safe_name(container.name) || !names.insert(container.name).second) return false;
    }
  }
  return true;
}

void PodRuntime::adopt(PodRecord record, MonoTime now) {
  CHECK(record.pod != nullptr);
  std::string uid = record.pod->metadata.uid;
  workers_.emplace(std::move(uid), PodWorker::adopt(std::move(record), now));
}

void PodRuntime::want(const CompletePods& complete, const RuntimeStep& step) {
  for (auto& [uid, worker] : workers_) worker.unwanted();
  for (const auto& pod : complete.pods) {
    if (!is_runnable(*pod)) continue;
    const std::string& uid = pod->metadata.uid;
    const auto known = workers_.find(uid);
    if (known != workers_.end()) {
      known->second.wanted(pod);
    } else {
      workers_.emplace(uid, PodWorker::accept(pod, step.now, step.now_wall));
    }
  }
}

// These processes have no record and are in no complete list, so nothing wants them any more.
void PodRuntime::end_strays(const RuntimeStep& step) {
  for (const auto& [uid, observed] : step.observed) {
    if (workers_.contains(uid)) continue;
    auto pod = std::make_shared<Pod>();
    pod->metadata.uid = uid;
    adopt({std::move(pod), step.now_wall, step.now, StopCause::removed}, step.now);
  }
}

RuntimeActions PodRuntime::step(const RuntimeStep& step) {
  monotonic_.check(step.now);
  if (const auto* complete = std::get_if<CompletePods>(&step.desired)) {
    want(*complete, step);
    end_strays(step);
  }
  RuntimeActions actions;
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    worker->second.step(config_, pod_step(step, worker->first), actions);
    worker = worker->second.is_finished() ? workers_.erase(worker) : std::next(worker);
  }
  return actions;
}

MonoTime PodRuntime::deadline() const {
  MonoTime first = MonoTime::max();
  for (const auto& [uid, worker] : workers_) first = std::min(first, worker.deadline());
  return first;
}

const Pod* PodRuntime::find(std::string_view name_space, std::string_view name) const {
  const Pod* found = nullptr;
  for (const auto& [uid, worker] : workers_) {
    const ObjectMeta& metadata = worker.pod().metadata;
    if (metadata.namespace_name != name_space || metadata.name != name) continue;
    // A pod may be replaced by another one of its name while it still stops.
    if (found == nullptr || !metadata.deletion_timestamp) found = &worker.pod();
  }
  return found;
}

}  // namespace holdfast::sync::runtime
