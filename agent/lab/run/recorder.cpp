#include "agent/lab/run/recorder.h"

#include <algorithm>

#include "agent/lab/cluster/api_actions.h"
#include "agent/lab/cluster/cluster.h"
#include "agent/lab/scenario/describe.h"
#include "agent/lab/sim/objects.h"
#include "sync/objects/names.h"

namespace holdfast::agent::lab::run {
namespace {

std::string_view own_taint(const sync::Node& node) {
  for (const sync::Taint& taint : node.spec.taints) {
    if (taint.effect != "NoExecute") continue;
    if (taint.key == sync::objects::taint_unreachable) return "unreachable";
    if (taint.key == sync::objects::taint_not_ready) return "not-ready";
  }
  return "";
}

bool is_usable(const sync::Node& node) {
  const auto& taints = node.spec.taints;
  return sim::ready_status(node) == "True" &&
         std::none_of(taints.begin(), taints.end(), [](const sync::Taint& taint) {
           return taint.key.starts_with("node.kubernetes.io/");
         });
}

bool is_autonomous(const sync::Node& node) {
  for (const char* name : {"node.beta.openyurt.io/autonomy", "apps.openyurt.io/binding"}) {
    const std::string* value = node.metadata.annotations.find(name);
    if (value != nullptr && *value == "true") return true;
  }
  return node.metadata.annotations.find("node.openyurt.io/autonomy-duration") != nullptr;
}

bool was_evicted_by_taint(const sync::Pod& pod) {
  const auto& conditions = pod.status.conditions;
  return std::any_of(conditions.begin(), conditions.end(), [](const sync::PodCondition& each) {
    return each.type == "DisruptionTarget" && each.reason == sync::objects::reason_taint_deletion;
  });
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  const bool same_key = toleration.key.empty() || toleration.key == taint.key;
  const bool same_value = toleration.op == "Exists" || toleration.value == taint.value;
  const bool same_effect = toleration.effect.empty() || toleration.effect == taint.effect;
  return same_key && same_value && same_effect;
}

// Whether the workload's pods may run on a node with these taints.
bool tolerates_all(const Workload& workload, const std::vector<Taint>& taints) {
  return std::all_of(taints.begin(), taints.end(), [&workload](const Taint& taint) {
    return taint.effect == "PreferNoSchedule" ||
           std::any_of(workload.tolerations.begin(), workload.tolerations.end(),
                       [&taint](const Toleration& each) { return tolerates(each, taint); });
  });
}

std::string name_of(const sync::Pod& pod) {
  return pod.metadata.namespace_name + "/" + pod.metadata.name;
}

}  // namespace

// -------------------------------------------------------------------------------------- StateLog

void StateLog::set(Duration now, std::string_view state) {
  if (is_open_) {
    if (spans_.back().state == state) return;
    spans_.back().end = now;
    if (spans_.back().end == spans_.back().begin) spans_.pop_back();
  }
  is_open_ = !state.empty();
  if (is_open_) spans_.push_back({now, now, std::string(state)});
}

std::vector<Span> StateLog::spans(Duration now) const {
  std::vector<Span> spans = spans_;
  if (is_open_) spans.back().end = now;
  return spans;
}

// ------------------------------------------------------------------------------------ observation

RunRecorder::RunRecorder(const Scenario& scenario, int speed, const Clock& clock, Say say)
    : scenario_(scenario), speed_(speed), clock_(clock), say_(std::move(say)) {
  for (const Site& site : scenario_.sites) {
    for (const std::string& name : cluster::nodes_of(site)) {
      order_.push_back(name);
      nodes_[name].site = site.name;
    }
  }
  for (const Workload& workload : scenario_.workloads) {
    WorkloadLog& log = workloads_[sim::title_of(workload)];
    log.workload = &workload;
    log.wanted = workload.replicas;
  }
}

void RunRecorder::begin() {
  has_begun_ = true;
  began_ = clock_.mono();
  began_wall_ = clock_.wall();
  update_shortfalls();
}

Duration RunRecorder::now() const {
  if (!has_begun_) return Duration::zero();
  return std::chrono::floor<std::chrono::milliseconds>((clock_.mono() - began_) * speed_);
}

void RunRecorder::fault(const ScenarioEvent& event) {
  const Description description = describe(event.action);
  FaultMark mark{
      .at = event.at, .until = {}, .what = description.what, .target = description.target};
  if (event.duration) mark.until = event.at + *event.duration;
  say(description.target + ": " + description.what);
  faults_.push_back(std::move(mark));
}

void RunRecorder::scaled(const std::string& workload, int replicas) {
  for (auto& [title, log] : workloads_) {
    if (log.workload->name == workload) log.wanted = replicas;
  }
  update_shortfalls();
}

void RunRecorder::node_changed(const cluster::LabNode& node) {
  NodeLog& log = nodes_[node.name()];
  log.link.set(now(), node.link().state());
  log.power.set(now(), node.is_powered() ? "" : "off");
}

void RunRecorder::node_seen(const sync::Node& node) {
  const auto found = nodes_.find(node.metadata.name);
  if (found == nodes_.end()) return;
  NodeLog& log = found->second;
  const std::string_view ready = sim::ready_status(node);
  const std::string_view taint = own_taint(node);
  if (has_begun_ && log.ready.state() != ready)
    say(found->first + ": Ready is " + std::string(ready));
  if (has_begun_ && log.taints.state() != taint) {
    say(found->first + ": " + (taint.empty() ? "not tainted" : "tainted " + std::string(taint)));
  }
  log.ready.set(now(), ready);
  log.taints.set(now(), taint);
  // An autonomous node that is not Ready would be tainted NoExecute otherwise.
  log.withheld.set(now(),
                   is_autonomous(node) && ready == "Unknown" && taint.empty() ? "autonomy" : "");
  log.is_usable = is_usable(node);
}

bool RunRecorder::is_fleet_ready() const {
  return std::all_of(nodes_.begin(), nodes_.end(),
                     [](const auto& each) { return each.second.is_usable; });
}

void RunRecorder::pods_listed(const std::vector<sync::Pod>& pods) {
  std::set<std::string> listed;
  for (const sync::Pod& pod : pods) {
    listed.insert(pod.metadata.uid);
    pod_seen(pod, false);
  }
  for (auto& [uid, log] : pods_) {
    if (!listed.contains(uid) && !log.result.deleted) log.result.deleted = now();
  }
}

void RunRecorder::pod_seen(const sync::Pod& pod, bool gone) {
  const auto [at, is_new] = pods_.try_emplace(pod.metadata.uid);
  PodLog& log = at->second;
  if (is_new) {
    log.result.name = name_of(pod);
    log.result.uid = pod.metadata.uid;
    log.result.created = now();
    log.is_marked = marked_.contains(pod.metadata.uid);
    if (const Workload* owner = cluster::owner_of(pod, scenario_.workloads)) {
      log.result.workload = sim::title_of(*owner);
    }
  }
  if (log.result.node.empty() && !pod.spec.node_name.empty()) {
    log.result.node = pod.spec.node_name;
    const auto node = nodes_.find(log.result.node);
    if (node != nodes_.end()) log.result.site = node->second.site;
  }
  log.is_stopping = log.is_stopping || pod.metadata.deletion_timestamp.has_value();
  log.is_marked = log.is_marked || was_evicted_by_taint(pod);
  if (log.is_stopping || gone) note_eviction(log);
  if (gone && !log.result.deleted) log.result.deleted = now();
}

void RunRecorder::note_eviction(PodLog& pod) {
  if (!pod.is_marked || pod.result.evicted) return;
  pod.result.evicted = now();
  say(pod.result.name + ": evicted from " + pod.result.node);
}

void RunRecorder::event_seen(const sync::Event& event) {
  const bool is_eviction =
      event.reason == "TaintManagerEviction" || event.reason == "NodeControllerEviction";
  if (!is_eviction || !event.message.starts_with("Marking for deletion")) return;
  const std::string& uid = event.involved_object.uid;
  marked_.insert(uid);
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  pod->second.is_marked = true;
  if (pod->second.is_stopping || pod->second.result.deleted) note_eviction(pod->second);
}

// A container that ends soon may be missed, but its number is not.
void RunRecorder::container_runs(PodLog& pod, const cluster::ContainerProcess& container) {
  const auto [first, is_new] =
      pod.first_attempt.try_emplace(container.container, container.attempt);
  int& latest = pod.latest_attempt[container.container];
  const int before = std::max(latest, first->second);
  latest = std::max(before, container.attempt);
  if (latest == before) return;
  pod.result.restarts += latest - before;
  say(pod.result.name + ": " + container.container + " restarted on " + pod.result.node);
}

void RunRecorder::containers_are(const std::string& node,
                                 const std::vector<cluster::ContainerProcess>& running) {
  std::set<std::string> alive;
  for (const cluster::ContainerProcess& each : running) {
    const auto pod = pods_.find(each.pod_uid);
    if (pod == pods_.end()) continue;
    alive.insert(each.pod_uid);
    container_runs(pod->second, each);
  }
  for (auto& [uid, pod] : pods_) {
    if (pod.result.node != node) continue;
    pod.running.set(now(), alive.contains(uid) ? "ready" : "");
  }
  update_shortfalls();
}

int RunRecorder::running_of(const std::string& title) const {
  return static_cast<int>(std::count_if(pods_.begin(), pods_.end(), [&title](const auto& each) {
    return each.second.result.workload == title && each.second.running.state() == "ready";
  }));
}

int RunRecorder::wanted_of(const WorkloadLog& log) const {
  if (log.workload->kind != WorkloadKind::daemon_set) return log.wanted;
  int nodes = 0;
  for (const Site& site : scenario_.sites) {
    const bool is_meant = log.workload->on.empty() || log.workload->on == site.name;
    if (is_meant && tolerates_all(*log.workload, site.taints)) nodes += site.nodes;
  }
  return nodes;
}

// A workload that was never complete is starting, which is no shortfall.
void RunRecorder::update_shortfalls() {
  for (auto& [title, log] : workloads_) {
    const int missing = wanted_of(log) - running_of(title);
    log.was_complete = log.was_complete || missing <= 0;
    if (log.was_complete) {
      log.shortfall.set(now(), missing > 0 ? std::to_string(missing) : "");
    }
  }
}

std::vector<std::string> RunRecorder::incomplete() const {
  std::vector<std::string> titles;
  for (const auto& [title, log] : workloads_) {
    if (log.workload->kind == WorkloadKind::job) continue;
    if (wanted_of(log) > running_of(title)) titles.push_back(title);
  }
  return titles;
}

}  // namespace holdfast::agent::lab::run
