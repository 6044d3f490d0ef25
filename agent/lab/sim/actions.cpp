// The actions of a scenario.

#include <algorithm>
#include <utility>

#include "agent/lab/scenario/describe.h"
#include "agent/lab/sim/objects.h"
#include "agent/lab/sim/world.h"

namespace holdfast::agent::lab::sim {
namespace {

// Restarting a process takes this long at least, as systemd's RestartSec does.
constexpr Duration restart_pause = std::chrono::milliseconds(100);

// Whether it may concern the controller or what it needs.
bool is_central(const Action& action) {
  const auto* cut = std::get_if<Cut>(&action);
  const auto* heal = std::get_if<Heal>(&action);
  const auto* kill = std::get_if<Kill>(&action);
  const auto* pause = std::get_if<Pause>(&action);
  const auto of = [](Process process) {
    return process == Process::cloud || process == Process::api_server;
  };
  return std::holds_alternative<ApiServerFault>(action) || (cut && cut->target == "cloud") ||
         (heal && heal->target == "cloud") || (kill && of(kill->process)) ||
         (pause && of(pause->process));
}

}  // namespace

void World::begin(const ScenarioEvent& event) {
  const Description description = describe(event.action);
  engine_.trace(description.target, description.what);
  FaultMark mark{
      .at = event.at, .until = {}, .what = description.what, .target = description.target};
  if (event.duration) mark.until = event.at + *event.duration;
  recorder_.fault(std::move(mark));
  last_fault_ = engine_.now();
  faults_ += event.duration ? 1 : 0;
  std::visit([this, &event](const auto& one) { begin_one(event, one); }, event.action);
  if (is_central(event.action)) note_control_plane();
}

void World::end(const ScenarioEvent& event) {
  engine_.trace(describe(event.action).target, describe(event.action).what + ", ended");
  last_fault_ = engine_.now();
  --faults_;
  std::visit([this](const auto& one) { end_one(one); }, event.action);
  if (is_central(event.action)) note_control_plane();
}

// ---------------------------------------------------------------------------------------- links

void World::set_cut(SimNode& node, const Cut& action, bool cut) {
  if (cut) {
    node.link().cut(action.direction, action.kind);
  } else {
    node.link().heal(action.direction, action.kind);
  }
  recorder_.link_is(node.name(), node.link().state());
}

void World::begin_one(const ScenarioEvent&, const Cut& action) {
  if (action.target == "cloud") cloud_.link().cut(action.direction, action.kind);
  for (SimNode* node : nodes_of(action.target)) set_cut(*node, action, true);
}

void World::end_one(const Cut& action) {
  if (action.target == "cloud") cloud_.link().heal(action.direction, action.kind);
  for (SimNode* node : nodes_of(action.target)) set_cut(*node, action, false);
}

void World::begin_one(const ScenarioEvent&, const Heal& action) {
  if (action.target == "cloud") cloud_.link().heal_all();
  for (SimNode* node : nodes_of(action.target)) {
    node->link().heal_all();
    recorder_.link_is(node->name(), node->link().state());
  }
}

void World::begin_one(const ScenarioEvent& event, const Flap& action) {
  const MonoTime until =
      event.duration ? engine_.now() + *event.duration : Engine::start + scenario_.duration;
  flap(action, until, true);
}

// Cuts or heals, and then the other way round, until the time has passed.
void World::flap(const Flap& action, MonoTime until, bool down) {
  const Cut cut{.target = action.target, .direction = Direction::both, .kind = action.kind};
  if (engine_.now() >= until && down) return;
  down ? begin_one({}, cut) : end_one(cut);
  if (is_central(cut)) note_control_plane();
  last_fault_ = engine_.now();
  engine_.after(down ? action.down : action.up,
                [this, action, until, down] { flap(action, until, !down); });
}

void World::begin_one(const ScenarioEvent&, const Degrade& action) {
  const LinkProfile& link = action.link;
  if (action.target == "cloud") cloud_.link().set_quality(link.up, link.down, false);
  for (SimNode* node : nodes_of(action.target)) {
    node->link().set_quality(link.up, link.down, false);
    recorder_.link_is(node->name(), node->link().state());
  }
}

void World::end_one(const Degrade& action) {
  if (action.target == "cloud") cloud_.link().restore_quality();
  for (SimNode* node : nodes_of(action.target)) {
    node->link().restore_quality();
    recorder_.link_is(node->name(), node->link().state());
  }
}

// Recorded traces of links, repeated as long as the scenario lasts.
void World::play_traces() {
  for (const Site& site : scenario_.sites) {
    const auto& trace = site.link.trace;
    if (trace.empty()) continue;
    const Duration length = std::max(trace.back().at, Duration(1));
    bool was_cut = false;
    for (Duration base{}; base < scenario_.duration; base += length) {
      for (const TracePoint& point : trace) {
        const bool changes = point.is_cut != std::exchange(was_cut, point.is_cut);
        engine_.at(Engine::start + base + point.at, [this, &site, &point, changes] {
          for (SimNode* node : by_site_.at(site.name)) {
            node->link().set_quality(point.up, point.down, true);
            if (changes) set_cut(*node, {.target = site.name}, point.is_cut);
            recorder_.link_is(node->name(), node->link().state());
          }
        });
      }
      if (!site.link.repeats) break;
    }
  }
}

// ------------------------------------------------------------------------------------- processes

void World::begin_one(const ScenarioEvent&, const PowerLoss& action) {
  for (SimNode* node : nodes_of(action.target)) {
    node->power_off();
    recorder_.power_is(node->name(), "off");
  }
}

void World::end_one(const PowerLoss& action) {
  for (SimNode* node : nodes_of(action.target)) {
    node->power_on();
    recorder_.power_is(node->name(), "");
  }
}

void World::begin_one(const ScenarioEvent& event, const Kill& action) {
  if (action.process == Process::cloud) cloud_.kill();
  if (action.process == Process::api_server) {
    server_.stop();
    for (const auto& node : nodes_) node->link().reset_all();
    cloud_.link().reset_all();
  }
  for (SimNode* node : nodes_of(action.target)) node->kill(action.process);
  if (event.duration) return;
  engine_.after(restart_pause, [this, action] {
    end_one(action);
    if (is_central(action)) note_control_plane();
  });
}

void World::end_one(const Kill& action) {
  if (action.process == Process::cloud) {
    invariants_.controller_started();
    cloud_.start();
  }
  if (action.process == Process::api_server) server_.start();
  for (SimNode* node : nodes_of(action.target)) node->start(action.process);
}

// A paused process of a node does not answer, and loses what it had not handled: as if killed.
void World::begin_one(const ScenarioEvent&, const Pause& action) {
  if (action.process == Process::cloud) cloud_.pause();
  if (action.process == Process::api_server) server_.pause();
  for (SimNode* node : nodes_of(action.target)) node->kill(action.process);
}

void World::end_one(const Pause& action) {
  if (action.process == Process::cloud) cloud_.resume();
  if (action.process == Process::api_server) server_.resume();
  for (SimNode* node : nodes_of(action.target)) node->start(action.process);
}

void World::begin_one(const ScenarioEvent&, const ClockStep& action) {
  if (action.target == "cloud") cloud_.step_clock(action.by);
  for (SimNode* node : nodes_of(action.target)) node->clock().step(action.by);
}

void World::end_one(const ClockStep& action) {
  if (action.target == "cloud") cloud_.step_clock(-action.by);
  for (SimNode* node : nodes_of(action.target)) node->clock().correct();
}

void World::begin_one(const ScenarioEvent&, const ClockDrift& action) {
  for (SimNode* node : nodes_of(action.target)) node->clock().drift(action.rate);
}

void World::end_one(const ClockDrift& action) {
  for (SimNode* node : nodes_of(action.target)) node->clock().correct();
}

void World::begin_one(const ScenarioEvent&, const DiskFull& action) {
  for (SimNode* node : nodes_of(action.target)) node->set_disk_full(true);
}

void World::end_one(const DiskFull& action) {
  for (SimNode* node : nodes_of(action.target)) node->set_disk_full(false);
}

void World::begin_one(const ScenarioEvent&, const ApiServerFault& action) {
  server_.begin(action.fault);
}

void World::end_one(const ApiServerFault& action) { server_.end(action.fault); }

// ---------------------------------------------------------------------------------------- people

void World::set_cordon(const std::string& node, bool cordoned) {
  (void)server_.edit_node(node, "", "", Actor::person, [cordoned](sync::Node& edited) {
    edited.spec.unschedulable = cordoned;
    return true;
  });
}

void World::begin_one(const ScenarioEvent&, const Drain& action) {
  for (SimNode* node : nodes_of(action.target)) {
    set_cordon(node->name(), true);
    evict_all(node->name());
  }
}

// As kubectl drain: pods that a budget protects are tried again.
void World::evict_all(const std::string& node) {
  bool again = false;
  for (const PodPtr& pod : server_.pods_of(node)) {
    const Workload* owner = workloads_.owner_of(*pod);
    const bool of_daemon_set = owner != nullptr && owner->kind == WorkloadKind::daemon_set;
    if (of_daemon_set || pod->metadata.deletion_timestamp) continue;
    if (workloads_.may_evict(*pod)) {
      (void)server_.delete_pod(key_of(*pod), pod->metadata.uid, Actor::person);
    } else {
      again = true;
    }
  }
  if (again) engine_.after(std::chrono::seconds(5), [this, node] { evict_all(node); });
}

void World::begin_one(const ScenarioEvent&, const Uncordon& action) {
  for (SimNode* node : nodes_of(action.target)) set_cordon(node->name(), false);
}

void World::begin_one(const ScenarioEvent&, const Rollout& action) {
  workloads_.roll_out(action.workload);
}

void World::begin_one(const ScenarioEvent&, const Scale& action) {
  workloads_.scale(action.workload, action.replicas);
}

void World::begin_one(const ScenarioEvent&, const DeletePods& action) {
  for (const auto& [key, pod] : std::map(server_.pods())) {
    const Workload* owner = workloads_.owner_of(*pod);
    if (owner == nullptr || owner->name != action.workload) continue;
    const auto nodes = action.on.empty() ? Nodes{} : nodes_of(action.on);
    const bool here =
        action.on.empty() || std::any_of(nodes.begin(), nodes.end(), [&pod](const auto* node) {
          return node->name() == pod->spec.node_name;
        });
    if (here) (void)server_.delete_pod(key, pod->metadata.uid, Actor::person);
  }
}

}  // namespace holdfast::agent::lab::sim
