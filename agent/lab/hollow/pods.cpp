#include "agent/lab/hollow/pods.h"

#include <algorithm>

namespace holdfast::agent::hollow {
namespace {

constexpr Duration retry_pause = std::chrono::seconds(2);

HollowPod::Phase phase_of(const sync::PodStatus& status) {
  if (status.phase == "Succeeded" || status.phase == "Failed") return HollowPod::Phase::ended;
  if (status.phase != "Running") return HollowPod::Phase::pending;
  const auto is_ready = [](const sync::PodCondition& condition) {
    return condition.type == "Ready" && condition.status == "True";
  };
  const bool ready = std::any_of(status.conditions.begin(), status.conditions.end(), is_ready);
  return ready ? HollowPod::Phase::running : HollowPod::Phase::unready;
}

std::vector<PodContainer> containers_of(const sync::PodSpec& spec) {
  using Kind = PodContainer::Kind;
  std::vector<PodContainer> all;
  all.reserve(spec.init_containers.size() + spec.containers.size());
  for (const sync::Container& each : spec.init_containers) {
    const Kind kind = each.restart_policy == "Always" ? Kind::sidecar : Kind::init;
    all.push_back({kind, each.name, each.image});
  }
  for (const sync::Container& each : spec.containers) {
    all.push_back({Kind::main, each.name, each.image});
  }
  return all;
}

std::optional<PodStep> step_of(const HollowPod& pod) {
  using Phase = HollowPod::Phase;
  if (pod.deleting) return pod.removed ? std::nullopt : std::optional(PodStep::remove);
  if (pod.phase == Phase::pending || pod.phase == Phase::unready) return PodStep::start;
  if (pod.phase == Phase::running && pod.runs_to_end) return PodStep::finish;
  return std::nullopt;
}

}  // namespace

void Pods::set(const sync::Pod& pod, NodeId node, MonoTime now) {
  const std::string key = pod.metadata.namespace_name + "/" + pod.metadata.name;
  HollowPod& kept = pods_[key];
  if (kept.uid != pod.metadata.uid) {
    due_.erase(key);
    kept = {.node = node, .uid = pod.metadata.uid, .containers = containers_of(pod.spec)};
    kept.runs_to_end = pod.spec.restart_policy == "Never" || pod.spec.restart_policy == "OnFailure";
    kept.address = ++addresses_;
  }
  kept.phase = phase_of(pod.status);
  kept.started = pod.status.start_time.value_or(kept.started);
  kept.deleting = pod.metadata.deletion_timestamp.has_value();
  const std::int64_t grace = pod.metadata.deletion_grace_period_seconds.value_or(0);
  kept.stop = std::min(plan_.pods_stop, Duration(std::chrono::seconds(grace)));
  schedule(key, kept, now);
}

Duration Pods::delay(const HollowPod& pod) const {
  const bool runs =
      pod.phase == HollowPod::Phase::running || pod.phase == HollowPod::Phase::unready;
  switch (*pod.wanted) {
    case PodStep::start:
      return runs ? Duration::zero() : plan_.pods_start;
    case PodStep::finish:
      return plan_.pod_lifetime;
    case PodStep::remove:
      return runs ? pod.stop : Duration::zero();
  }
  return Duration::zero();
}

// A step that is already due keeps its time, however often the pod changes meanwhile.
void Pods::schedule(const std::string& key, HollowPod& pod, MonoTime now) {
  if (pod.busy) return;
  const auto wanted = step_of(pod);
  if (wanted == pod.wanted) return;
  due_.erase(key);
  pod.wanted = wanted;
  if (wanted) due_.push(now + delay(pod), key);
}

std::optional<PodWork> Pods::next(MonoTime now, const std::function<bool(NodeId)>& is_silent) {
  while (due_.next() <= now) {
    std::string key = due_.pop();
    HollowPod* pod = find(key);
    if (pod == nullptr || !pod->wanted || pod->busy) continue;
    if (is_silent(pod->node)) {
      parked_[pod->node].push_back(std::move(key));
      continue;
    }
    pod->busy = true;
    return PodWork{std::move(key), *pod->wanted};
  }
  return std::nullopt;
}

void Pods::resume(NodeId node, MonoTime now) {
  const auto parked = parked_.find(node);
  if (parked == parked_.end()) return;
  for (const std::string& key : parked->second) {
    if (find(key) != nullptr && due_.find(key) == nullptr) due_.push(now, key);
  }
  parked_.erase(parked);
}

void Pods::done(const PodWork& work, const std::string& uid, MonoTime now) {
  HollowPod* pod = find(work.key);
  if (pod == nullptr || pod->uid != uid) return;
  pod->busy = false;
  pod->wanted.reset();
  if (work.step == PodStep::start) pod->phase = HollowPod::Phase::running;
  if (work.step == PodStep::finish) pod->phase = HollowPod::Phase::ended;
  if (work.step == PodStep::remove) pod->removed = true;
  schedule(work.key, *pod, now);
}

void Pods::failed(const PodWork& work, const std::string& uid, MonoTime now) {
  HollowPod* pod = find(work.key);
  if (pod == nullptr || pod->uid != uid) return;
  pod->busy = false;
  pod->wanted = step_of(*pod);
  if (pod->wanted) due_.push(now + retry_pause, work.key);
}

HollowPod* Pods::find(const std::string& key) {
  const auto found = pods_.find(key);
  return found == pods_.end() ? nullptr : &found->second;
}

}  // namespace holdfast::agent::hollow
