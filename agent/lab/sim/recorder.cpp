#include "agent/lab/sim/recorder.h"

#include <algorithm>
#include <utility>

#include "agent/lab/sim/objects.h"

namespace holdfast::agent::lab::sim {
namespace {

constexpr Duration interval = std::chrono::minutes(1);  // of the series of evictions

std::string_view own_taint(const sync::Node& node) {
  for (const sync::Taint& taint : node.spec.taints) {
    if (taint.effect != "NoExecute") continue;
    if (taint.key == "node.kubernetes.io/unreachable") return "unreachable";
    if (taint.key == "node.kubernetes.io/not-ready") return "not-ready";
  }
  return "";
}

}  // namespace

std::string_view Recorder::last_state(const std::vector<Span>& spans) {
  if (spans.empty() || spans.back().end != open_end) return "";
  return spans.back().state;
}

Recorder::Recorder(Engine& engine, Server& server, const Workloads& workloads)
    : engine_(engine), server_(server), workloads_(workloads) {
  server_.on_change([this](const Change& change) { observe(change); });
}

void Recorder::add_node(const std::string& name, const std::string& site) {
  node_at_[name] = result_.nodes.size();
  result_.nodes.emplace_back();
  result_.nodes.back().name = name;
  result_.nodes.back().site = site;
}

// Begins a span unless the last one has the same state; an empty state only ends it.
void Recorder::open(std::vector<Span>& spans, std::string_view state) {
  if (!spans.empty() && spans.back().end == open_end) {
    if (spans.back().state == state) return;
    spans.back().end = engine_.elapsed();
    if (spans.back().end == spans.back().begin) spans.pop_back();
  }
  if (!state.empty()) spans.push_back({engine_.elapsed(), open_end, std::string(state)});
}

void Recorder::close_all(std::vector<Span>& spans) const {
  for (Span& span : spans) {
    if (span.end == open_end) span.end = engine_.elapsed();
  }
}

void Recorder::link_is(const std::string& node, std::string_view state) {
  open(result_.nodes[node_at_.at(node)].link, state);
}

void Recorder::power_is(const std::string& node, std::string_view state) {
  open(result_.nodes[node_at_.at(node)].power, state);
}

void Recorder::withheld_is(const std::string& node, std::string_view reason) {
  open(result_.nodes[node_at_.at(node)].withheld, reason);
}

// ------------------------------------------------------------------------------------ API server

void Recorder::observe(const Change& change) {
  if (change.node) observe_node(change);
  if (!change.pod) return;
  observe_pod(change);
  trace_pod(change);
}

void Recorder::observe_node(const Change& change) {
  const auto at = node_at_.find(change.node->metadata.name);
  if (at == node_at_.end()) return;
  NodeResult& node = result_.nodes[at->second];
  const std::string by = ", by " + std::string(to_string(change.by));
  const std::string_view ready = ready_status(*change.node);
  if (last_state(node.ready) != ready) {
    engine_.trace(node.name, "Ready is " + std::string(ready) + by);
  }
  const std::string_view taint = own_taint(*change.node);
  if (last_state(node.taints) != taint) {
    engine_.trace(node.name, (taint.empty() ? "not tainted" : std::string(taint)) + by);
  }
  open(node.ready, ready);
  open(node.taints, taint);
}

void Recorder::trace_pod(const Change& change) {
  const std::string by = ", by " + std::string(to_string(change.by));
  const sync::Pod& pod = *change.pod;
  if (change.type == ChangeType::added) return engine_.trace(key_of(pod), "created" + by);
  if (change.type == ChangeType::deleted) return engine_.trace(key_of(pod), "gone" + by);
  const sync::Pod& before = *change.pod_before;
  if (before.spec.node_name != pod.spec.node_name) {
    engine_.trace(key_of(pod), "bound to " + pod.spec.node_name);
  }
  if (!before.metadata.deletion_timestamp && pod.metadata.deletion_timestamp) {
    engine_.trace(key_of(pod), "deleted" + by);
  }
  if (before.status.phase != pod.status.phase) {
    engine_.trace(key_of(pod), pod.status.phase + by);
  }
  if (is_ready(before) != is_ready(pod)) {
    engine_.trace(key_of(pod), (is_ready(pod) ? "ready" : "not ready") + by);
  }
}

void Recorder::observe_pod(const Change& change) {
  const sync::Pod& pod = *change.pod;
  const std::string& uid = pod.metadata.uid;
  const auto [at, is_new] = pod_at_.try_emplace(uid, result_.pods.size());
  if (is_new) {
    result_.pods.emplace_back();
    PodResult& made = result_.pods.back();
    made.name = key_of(pod);
    made.uid = uid;
    made.created = engine_.elapsed();
    if (const Workload* owner = workloads_.owner_of(pod)) made.workload = title_of(*owner);
  }
  PodResult& known = result_.pods[at->second];
  if (known.node.empty() && !pod.spec.node_name.empty()) {
    known.node = pod.spec.node_name;
    const auto node = node_at_.find(known.node);
    if (node != node_at_.end()) known.site = result_.nodes[node->second].site;
  }
  const bool goes = pod.metadata.deletion_timestamp || change.type == ChangeType::deleted;
  if (goes && change.by == Actor::lifecycle && !known.evicted) {
    known.evicted = engine_.elapsed();
    const auto minute = static_cast<std::size_t>(engine_.elapsed() / interval);
    if (evictions_.size() <= minute) evictions_.resize(minute + 1);
    ++evictions_[minute];
  }
  if (change.type == ChangeType::deleted) known.deleted = engine_.elapsed();
}

// ----------------------------------------------------------------------------------------- nodes

void Recorder::container_is(const std::string&, const std::string& pod_uid, std::string_view state,
                            int restarts) {
  const auto at = pod_at_.find(pod_uid);
  if (at == pod_at_.end()) return;
  PodResult& pod = result_.pods[at->second];
  const bool was_ready = !pod.running.empty() && pod.running.back().end == open_end &&
                         pod.running.back().state == "ready";
  open(pod.running, state == "stopped" ? "" : state);
  pod.restarts = std::max(pod.restarts, restarts);
  const bool is_ready = state == "ready";
  if (is_ready != was_ready) change_ready(pod.workload, is_ready ? 1 : -1);
}

void Recorder::pod_stops(const std::string&, const std::string&, std::string_view) {}

int Recorder::ready(const std::string& workload) const {
  const auto found = ready_.find(workload);
  return found == ready_.end() ? 0 : found->second;
}

// A workload that was never complete is starting, which is no shortfall.
void Recorder::change_ready(const std::string& workload, int by) {
  if (workload.empty()) return;
  const int now = ready_[workload] += by;
  const std::string name = workload.substr(workload.find('/') + 1);
  const int missing = workloads_.wanted(name) - now;
  bool& was_complete = was_complete_[workload];
  was_complete = was_complete || missing <= 0;
  if (was_complete) open(shortfall_[workload], missing > 0 ? std::to_string(missing) : "");
}

// ---------------------------------------------------------------------------------------- result

void Recorder::add_traffic(const Traffic& traffic) {
  for (std::size_t kind = 0; kind < request_kinds; ++kind) {
    const auto each = static_cast<RequestKind>(kind);
    const Traffic::Count& count = traffic.of(each);
    result_.requests.push_back({std::string(to_string(each)), count.requests, count.bytes});
  }
  result_.requests_per_second = traffic.most_per_second();
  Series requests{"requests", traffic.interval(), {}};
  for (const std::uint64_t count : traffic.per_interval()) {
    requests.values.push_back(static_cast<double>(count));
  }
  result_.series.push_back(std::move(requests));
  result_.series.push_back({"evictions", interval, evictions_});
}

RunResult Recorder::finish(const Traffic& traffic, const std::vector<Workload>& workloads) {
  for (NodeResult& node : result_.nodes) {
    for (auto* spans : {&node.link, &node.power, &node.ready, &node.taints, &node.withheld}) {
      close_all(*spans);
    }
  }
  for (PodResult& pod : result_.pods) close_all(pod.running);
  for (const Workload& workload : workloads) {
    WorkloadResult made;
    made.name = title_of(workload);
    made.site = workload.on;
    made.wanted = workloads_.wanted(workload.name);
    made.shortfall = shortfall_[made.name];
    close_all(made.shortfall);
    for (const Span& span : made.shortfall) made.unavailable += span.end - span.begin;
    for (const PodResult& pod : result_.pods) {
      if (pod.workload != made.name) continue;
      made.evicted += pod.evicted ? 1 : 0;
      made.restarted += pod.restarts;
    }
    result_.workloads.push_back(std::move(made));
  }
  add_traffic(traffic);
  result_.duration = engine_.elapsed();
  result_.events = engine_.events();
  result_.violation = engine_.violation();
  return std::move(result_);
}

}  // namespace holdfast::agent::lab::sim
