// The actions of a scenario, performed on real processes.

#include <algorithm>

#include "agent/lab/cluster/cluster.h"
#include "agent/lab/cluster/refusal.h"
#include "platform/loop/timer.h"

namespace holdfast::agent::lab::cluster {
namespace {

// Restarting a process takes this long at least, as systemd's RestartSec does.
constexpr Duration restart_pause = std::chrono::milliseconds(100);

bool is_of_control_plane(Process process) {
  return process == Process::cloud || process == Process::api_server;
}

std::vector<std::string> names_of(const std::vector<LabNode*>& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const LabNode* node : nodes) names.push_back(node->api_name());
  return names;
}

}  // namespace

Status Cluster::perform(const ScenarioEvent& event) {
  if (const std::string refusal = refusal_of(event.action); !refusal.empty()) {
    return fail(Errc::invalid, refusal);
  }
  return std::visit([this, &event](const auto& action) { return begin_one(event, action); },
                    event.action);
}

Status Cluster::end(const ScenarioEvent& event) {
  return std::visit([this](const auto& action) { return end_one(action); }, event.action);
}

// ---------------------------------------------------------------------------------------- links

Status Cluster::set_cut(const Cut& action, bool cut) {
  const auto change = [&action, cut](Link& link) {
    return cut ? link.cut(action.direction, action.kind) : link.heal(action.direction, action.kind);
  };
  if (action.target == "cloud") return change(control_plane_->cloud_link());
  for (LabNode* node : targets(action.target)) {
    if (auto done = change(node->link()); !done) return fail(node->name(), done.error());
    changed(*node);
  }
  return {};
}

Status Cluster::begin_one(const ScenarioEvent&, const Cut& action) { return set_cut(action, true); }

Status Cluster::end_one(const Cut& action) { return set_cut(action, false); }

Status Cluster::begin_one(const ScenarioEvent&, const Heal& action) {
  if (action.target == "cloud") return control_plane_->cloud_link().heal_all();
  for (LabNode* node : targets(action.target)) {
    if (auto done = node->link().heal_all(); !done) return fail(node->name(), done.error());
    changed(*node);
  }
  return {};
}

Status Cluster::begin_one(const ScenarioEvent& event, const Flap& action) {
  const MonoTime until = event.duration ? clock_.mono() + *event.duration : MonoTime::max();
  in_background("flap of " + action.target, flap(action, until));
  return {};
}

asio::awaitable<Status> Cluster::flap(Flap action, MonoTime until) {
  const Cut cut{.target = action.target, .direction = Direction::both, .kind = action.kind};
  Status done;
  while (clock_.mono() < until) {
    done = set_cut(cut, true);
    if (!done) co_return done;
    co_await loop::wait_for(action.down);
    done = set_cut(cut, false);
    if (!done) co_return done;
    co_await loop::wait_for(action.up);
  }
  co_return done;
}

Status Cluster::set_quality(const Target& target, const LinkQuality& up, const LinkQuality& down,
                            bool is_usual) {
  if (target == "cloud") return control_plane_->cloud_link().set_quality(up, down, is_usual);
  for (LabNode* node : targets(target)) {
    const Status done = node->link().set_quality(up, down, is_usual);
    if (!done) return fail(node->name(), done.error());
    changed(*node);
  }
  return {};
}

Status Cluster::begin_one(const ScenarioEvent&, const Degrade& action) {
  return set_quality(action.target, action.link.up, action.link.down, false);
}

Status Cluster::end_one(const Degrade& action) {
  if (action.target == "cloud") return control_plane_->cloud_link().restore_quality();
  for (LabNode* node : targets(action.target)) {
    if (auto done = node->link().restore_quality(); !done) return fail(node->name(), done.error());
    changed(*node);
  }
  return {};
}

asio::awaitable<Status> Cluster::play_trace(Site site) {
  const Duration length = std::max(site.link.trace.back().at, Duration(1));
  const Cut cut{.target = site.name};
  bool is_cut = false;
  Status done;
  for (MonoTime base = clock_.mono();; base += length) {
    for (const TracePoint& point : site.link.trace) {
      co_await loop::sleep_until(base + point.at);
      done = set_quality(site.name, point.up, point.down, true);
      if (done && point.is_cut != is_cut) done = set_cut(cut, point.is_cut);
      if (!done) co_return done;
      is_cut = point.is_cut;
    }
    if (!site.link.repeats) co_return done;
  }
}

// ------------------------------------------------------------------------------------- processes

Status Cluster::begin_one(const ScenarioEvent&, const PowerLoss& action) {
  for (LabNode* node : targets(action.target)) {
    node->power_off();
    changed(*node);
  }
  return {};
}

Status Cluster::end_one(const PowerLoss& action) {
  for (LabNode* node : targets(action.target)) {
    node->power_on();
    changed(*node);
    in_background("boot of " + node->name(), node->start());
  }
  return {};
}

Status Cluster::begin_one(const ScenarioEvent& event, const Kill& action) {
  if (is_of_control_plane(action.process)) {
    control_plane_->kill(action.process);
  } else {
    for (LabNode* node : targets(action.target)) node->kill(action.process);
  }
  if (!event.duration) in_background("restart", restart_soon(action));
  return {};
}

asio::awaitable<Status> Cluster::restart_soon(Kill action) {
  co_await loop::wait_for(restart_pause);
  co_return end_one(action);
}

Status Cluster::end_one(const Kill& action) {
  if (is_of_control_plane(action.process)) {
    in_background("restart", control_plane_->restart(action.process));
    return {};
  }
  for (LabNode* node : targets(action.target)) {
    node->release(action.process);
    in_background("restart on " + node->name(), node->start());
  }
  return {};
}

Status Cluster::begin_one(const ScenarioEvent&, const Pause& action) {
  if (is_of_control_plane(action.process)) control_plane_->pause(action.process);
  for (LabNode* node : targets(action.target)) node->pause(action.process);
  return {};
}

Status Cluster::end_one(const Pause& action) {
  if (is_of_control_plane(action.process)) control_plane_->resume(action.process);
  for (LabNode* node : targets(action.target)) node->resume(action.process);
  return {};
}

Status Cluster::begin_one(const ScenarioEvent&, const ApiServerFault&) {
  control_plane_->kill(Process::api_server);
  return {};
}

Status Cluster::end_one(const ApiServerFault&) {
  in_background("restart of the API server", control_plane_->restart(Process::api_server));
  return {};
}

// ---------------------------------------------------------------------------------------- people

const Workload* Cluster::workload(const std::string& name) const {
  const auto found = std::find_if(settings_.workloads.begin(), settings_.workloads.end(),
                                  [&name](const Workload& each) { return each.name == name; });
  return found == settings_.workloads.end() ? nullptr : &*found;
}

Status Cluster::begin_one(const ScenarioEvent&, const Drain& action) {
  for (LabNode* node : targets(action.target)) {
    in_background("drain", drain(node->api_name()));
  }
  return {};
}

asio::awaitable<Status> Cluster::drain(std::string node) {
  ApiActions api = actions();
  Status done = co_await api.cordon(node, true);
  if (done) done = co_await api.evict_all(node, settings_.drain_retry);
  co_return done;
}

Status Cluster::begin_one(const ScenarioEvent&, const Uncordon& action) {
  for (LabNode* node : targets(action.target))
    in_background("uncordon", uncordon(node->api_name()));
  return {};
}

asio::awaitable<Status> Cluster::uncordon(std::string node) {
  ApiActions api = actions();
  co_return co_await api.cordon(std::move(node), false);
}

Status Cluster::begin_one(const ScenarioEvent&, const Rollout& action) {
  const Workload* found = workload(action.workload);
  if (found == nullptr) return fail(Errc::not_found, "no workload " + action.workload);
  in_background("rollout", roll_out(*found));
  return {};
}

asio::awaitable<Status> Cluster::roll_out(Workload workload) {
  ApiActions api = actions();
  co_return co_await api.roll_out(std::move(workload));
}

Status Cluster::begin_one(const ScenarioEvent&, const Scale& action) {
  const Workload* found = workload(action.workload);
  if (found == nullptr) return fail(Errc::not_found, "no workload " + action.workload);
  in_background("scale", scale(*found, action.replicas));
  return {};
}

asio::awaitable<Status> Cluster::scale(Workload workload, int replicas) {
  ApiActions api = actions();
  co_return co_await api.scale(std::move(workload), replicas);
}

Status Cluster::begin_one(const ScenarioEvent&, const DeletePods& action) {
  in_background("delete pods", delete_pods(action));
  return {};
}

asio::awaitable<Status> Cluster::delete_pods(DeletePods action) {
  ApiActions api = actions();
  std::vector<std::string> nodes;
  if (!action.on.empty()) nodes = names_of(targets(action.on));
  co_return co_await api.delete_pods(settings_.workloads, action.workload, std::move(nodes));
}

}  // namespace holdfast::agent::lab::cluster
