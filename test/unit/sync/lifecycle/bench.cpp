#include "test/unit/sync/lifecycle/bench.h"

#include <deque>

#include "sync/lifecycle/taints.h"
#include "sync/objects/names.h"

namespace holdfast::sync::lifecycle {
namespace {

using namespace std::chrono_literals;

template <class Conditions, class Condition>
void set_condition(Conditions& conditions, const Condition& condition) {
  for (auto& old : conditions) {
    if (old.type != condition.type) continue;
    old = condition;
    return;
  }
  conditions.push_back(condition);
}

}  // namespace

Bench::Bench(const Options& options, const EnabledControllers& parts)
    : options_(options),
      enabled_(parts),
      controller_(std::make_unique<SteppedController>(options, parts)) {}

Bench::Lines Bench::run_until(Duration at) {
  const MonoTime end(at);
  while (true) {
    const MonoTime next = std::min(controller_->next(), next_beat_);
    if (next > end) break;
    now_ = std::max(now_, next);
    if (now_ >= next_beat_) beat();
    perform(controller_->tick(now_, wall()));
  }
  now_ = end;
  return std::exchange(log_, {});
}

void Bench::beat() {
  for (const std::string& name : living_) {
    Lease lease;
    lease.metadata.name = name;
    lease.spec.renew_time = wall();
    controller_->set_lease(now_, lease);
  }
  next_beat_ = now_ + 10s;
}

void Bench::add_node(const std::string& name) {
  living_.insert(name);
  set_node(make_node(name, "True", now_.time_since_epoch()));
}

void Bench::revive(const std::string& name) {
  living_.insert(name);
  Node node = nodes_.at(name);
  node.status.conditions = make_node(name, "True", now_.time_since_epoch()).status.conditions;
  set_node(node);
}

void Bench::annotate(const std::string& node, std::string_view key, std::string_view value) {
  Node changed = nodes_.at(node);
  changed.metadata.annotations.set(key, value);
  set_node(changed);
}

void Bench::relabel(const std::string& node, std::string_view key, std::string_view value) {
  Node changed = nodes_.at(node);
  changed.metadata.labels.set(key, value);
  set_node(changed);
}

void Bench::remove_node(const std::string& name) {
  nodes_.erase(name);
  living_.erase(name);
  perform(controller_->remove_node(name));
}

void Bench::set_node(const Node& node) {
  nodes_[node.metadata.name] = node;
  deliver_node(node);
}

void Bench::deliver_node(const Node& node) { perform(controller_->set_node(now_, wall(), node)); }

void Bench::add_pod(const std::string& name, const std::string& node,
                    const std::vector<Toleration>& tolerations) {
  Pod pod = make_pod(name, node);
  pod.spec.tolerations = tolerations;
  pods_[name] = pod;
  perform(controller_->set_pod(now_, wall(), pod));
}

std::vector<Toleration> Bench::default_tolerations(std::optional<std::int64_t> seconds) {
  return {make_toleration(std::string(objects::taint_not_ready), seconds),
          make_toleration(std::string(objects::taint_unreachable), seconds)};
}

void Bench::fail(std::string start, Errc error, int times) {
  faults_.push_back({std::move(start), error, times});
}

void Bench::restart() {
  controller_ = std::make_unique<SteppedController>(options_, enabled_);
  for (const auto& [name, node] : nodes_) deliver_node(node);
  for (const auto& [name, pod] : pods_) perform(controller_->set_pod(now_, wall(), pod));
}

void Bench::perform(Effects effects) {
  std::deque<Effect> queue(effects.begin(), effects.end());
  while (!queue.empty()) {
    const Effect effect = std::move(queue.front());
    queue.pop_front();
    const std::string line = describe({effect}).front();
    const auto seconds = std::chrono::round<std::chrono::seconds>(now_.time_since_epoch());
    if (!line.ends_with("RegisteredNode")) {
      log_.push_back(std::to_string(seconds.count()) + " " + line);
    }
    if (std::holds_alternative<RecordEvent>(effect)) continue;
    const Outcome outcome = perform_one(effect, line);
    for (auto& more : controller_->settle(now_, wall(), effect, outcome)) queue.push_back(more);
  }
}

Outcome Bench::perform_one(const Effect& effect, const std::string& line) {
  for (Fault& fault : faults_) {
    if (fault.left == 0 || !line.starts_with(fault.start)) continue;
    --fault.left;
    return {fault.error, {}};
  }
  apply(effect);
  return {};
}

void Bench::apply(const Effect& effect) {
  if (const auto* update = std::get_if<UpdateNodeStatus>(&effect)) {
    Node& node = nodes_.at(update->node);
    for (const NodeCondition& one : update->conditions) set_condition(node.status.conditions, one);
    deliver_node(node);
  } else if (const auto* patch = std::get_if<PatchTaints>(&effect)) {
    Node& node = nodes_.at(patch->node);
    node.spec.taints = taints_after(node.spec.taints, *patch);
    deliver_node(node);
  } else if (const auto* labels = std::get_if<PatchLabels>(&effect)) {
    Node& node = nodes_.at(labels->node);
    for (const auto& [name, value] : labels->labels) node.metadata.labels.set(name, value);
    deliver_node(node);
  } else if (const auto* marking = std::get_if<MarkPodNotReady>(&effect)) {
    Pod& pod = pods_.at(marking->pod.name);
    pod.status.conditions.front().status = objects::status_false;
    perform(controller_->set_pod(now_, wall(), pod));
  } else if (const auto* deletion = std::get_if<DeletePod>(&effect)) {
    remove_pod(deletion->pod);
  } else if (const auto* eviction = std::get_if<EvictPod>(&effect)) {
    remove_pod(eviction->pod);
  }
}

void Bench::report_ready(const std::string& pod) {
  Pod& reported = pods_.at(pod);
  reported.status.conditions.front().status = objects::status_true;
  perform(controller_->set_pod(now_, wall(), reported));
}

void Bench::remove_pod(const PodRef& pod) {
  pods_.erase(pod.name);
  perform(controller_->remove_pod(pod.namespace_name, pod.name));
}

}  // namespace holdfast::sync::lifecycle
