#include "agent/lab/sim/world.h"

#include <algorithm>
#include <utility>

#include "agent/lab/result/summary.h"
#include "agent/lab/sim/objects.h"

namespace holdfast::agent::lab::sim {
namespace {

Kubelet::ProfileOf profiles(const Workloads& workloads) {
  return [&workloads](const sync::Pod& pod) {
    const Workload* owner = workloads.owner_of(pod);
    if (owner == nullptr) return PodProfile{};
    return PodProfile{.start = owner->start, .stop = owner->stop, .run_time = owner->run_time};
  };
}

// Whether a fault lasts until the end.
bool has_lasting_fault(const Scenario& scenario) {
  return std::any_of(
      scenario.events.begin(), scenario.events.end(), [&scenario](const ScenarioEvent& event) {
        const Action& action = event.action;
        const bool lasts =
            std::holds_alternative<Cut>(action) || std::holds_alternative<Flap>(action) ||
            std::holds_alternative<PowerLoss>(action) || std::holds_alternative<Pause>(action) ||
            std::holds_alternative<DiskFull>(action) ||
            std::holds_alternative<ApiServerFault>(action) || std::holds_alternative<Drain>(action);
        return lasts && (!event.duration || event.at + *event.duration >= scenario.duration);
      });
}

bool has_trace(const Scenario& scenario) {
  return std::any_of(scenario.sites.begin(), scenario.sites.end(),
                     [](const Site& site) { return !site.link.trace.empty(); });
}

constexpr Duration withheld_interval = std::chrono::seconds(1);
constexpr std::uint64_t node_seeds = 1'000'003;  // more than there are nodes

}  // namespace

World::World(const Scenario& scenario, const SimOptions& options)
    : scenario_(scenario),
      options_(options),
      engine_(options.seed),
      server_(engine_),
      workloads_(engine_, server_, scenario.workloads),
      traffic_(engine_, counting_interval(scenario.duration)),
      recorder_(engine_, server_, workloads_),
      invariants_(engine_, server_, options_.cloud.rules, recorder_),
      cloud_(engine_, server_, options.cloud,
             [this](const sync::Pod& pod) { return workloads_.may_evict(pod); }),
      scheduler_(engine_, server_, workloads_),
      profile_of_(profiles(workloads_)),
      progress_({engine_, server_, invariants_, options_.cloud.rules, options_.edge.kubelet_grace,
                 nodes_}) {
  engine_.on_trace(options.trace);
  server_.on_change([this](const Change& change) {
    if (change.node && ready_status(*change.node) != "True") {
      unready_.insert(change.node->metadata.name);
    }
  });
  const SimNode::Parts parts{engine_, server_, traffic_, options_.edge, profile_of_, invariants_};
  for (const Site& site : scenario.sites) {
    const auto line = std::make_shared<Line>();
    for (int number = 1; number <= site.nodes; ++number) {
      const std::string name = node_name(site, number);
      auto node = std::make_unique<SimNode>(parts, site, name, line);
      if (options.own_random || options.skips_heartbeats) {
        node->link().use_own_random(options.seed * node_seeds + nodes_.size());
      }
      recorder_.add_node(name, site.name);
      by_name_[name] = node.get();
      by_site_[site.name].push_back(node.get());
      nodes_.push_back(std::move(node));
    }
  }
}

SimOutcome World::run() {
  cloud_.start();
  for (const auto& node : nodes_) node->power_on();
  workloads_.start();
  schedule_events();
  play_traces();
  watch_withheld();
  watch_settling();
  if (options_.skips_heartbeats) {
    schedule_quiet_times();
  } else {
    watch_progress();
  }
  engine_.run_until(Engine::start + scenario_.duration);
  for (const auto& node : nodes_) skipped_ += node->is_quiet() ? node->end_quiet() : 0;
  if (!engine_.violation()) check_convergence();
  for (const auto& node : nodes_) {
    recorder_.set_bytes(node->name(), node->link().bytes(Way::up) + node->link().bytes(Way::down));
  }
  SimOutcome outcome{recorder_.finish(traffic_, scenario_.workloads), engine_.digest(), skipped_};
  outcome.result.scenario = scenario_.name;
  outcome.result.about = scenario_.about;
  outcome.result.mode = "sim";
  outcome.result.seed = options_.seed;
  for (const auto& [flag, value] : scenario_.cloud)
    outcome.result.settings["cloud." + flag] = value;
  for (const auto& [flag, value] : scenario_.edge) outcome.result.settings["edge." + flag] = value;
  return outcome;
}

void World::schedule_events() {
  // The start of the fleet is no part of the answer.
  if (!scenario_.events.empty()) {
    engine_.at(Engine::start + scenario_.events.front().at, [this] { traffic_.restart_maximum(); });
  }
  for (const ScenarioEvent& event : scenario_.events) {
    engine_.at(Engine::start + event.at, [this, &event] { begin(event); });
    if (!event.duration) continue;
    engine_.at(Engine::start + event.at + *event.duration, [this, &event] { end(event); });
  }
}

World::Nodes World::nodes_of(const Target& target) {
  if (target == "all") {
    Nodes all;
    for (const auto& node : nodes_) all.push_back(node.get());
    return all;
  }
  if (const auto site = by_site_.find(target); site != by_site_.end()) return site->second;
  const auto node = by_name_.find(target);
  return node == by_name_.end() ? Nodes{} : Nodes{node->second};
}

// Looks every second which evictions are withheld, because the controller does not announce it.
// They are withheld only of nodes that are not Ready; the controller may learn a little later that
// one is Ready again.
void World::watch_withheld() {
  engine_.after(withheld_interval, [this] {
    watch_withheld();
    const auto* controller = cloud_.controller();
    for (auto name = unready_.begin(); name != unready_.end();) {
      const bool withheld =
          controller != nullptr && controller->fleet().withholds_evictions(engine_.now(), *name);
      recorder_.withheld_is(*name, withheld ? "autonomous" : "");
      const NodePtr node = server_.node(*name);
      const bool ready = node && ready_status(*node) == "True";
      name = ready && !withheld ? unready_.erase(name) : std::next(name);
    }
  });
}

void World::watch_progress() {
  engine_.after(Progress::interval, [this] {
    watch_progress();
    progress_.look(is_calm());
  });
}

// A link that loses messages is suspect for a moment now and then, perhaps at the very end, too.
void World::watch_settling() {
  constexpr Duration step = std::chrono::seconds(10);
  for (Duration before = std::chrono::minutes(1); before > Duration::zero(); before -= step) {
    engine_.at(Engine::start + scenario_.duration - before, [this] {
      for (const auto& node : nodes_) {
        if (node->has_settled()) settled_.insert(node->name());
      }
    });
  }
}

// The controller and what it needs, after something happened that may concern them.
void World::note_control_plane() {
  const bool answers = !server_.is_silent() && !server_.has(ApiFault::unavailable) &&
                       !server_.has(ApiFault::overloaded) && !cloud_.link().is_cut();
  invariants_.control_plane_is(answers);
  progress_.control_plane_is(answers && cloud_.is_running() && !cloud_.is_paused());
}

bool World::is_calm() const {
  return faults_ == 0 && !has_lasting_fault(scenario_) && !has_trace(scenario_) &&
         engine_.now() - last_fault_ >= options_.converge_within;
}

// Once faults have stopped, the cluster must be as it was: everything connected, ready and sent.
void World::check_convergence() {
  const bool is_still_failing = has_lasting_fault(scenario_);
  if (is_still_failing || engine_.now() - last_fault_ < options_.converge_within) return;
  const std::string within = "within " + format_duration(options_.converge_within) + ": ";
  for (const auto& node : nodes_) {
    if (!node->has_settled() && !settled_.contains(node->name())) {
      return engine_.violate("the cluster recovers", within + node->name() + " is not connected");
    }
    const NodePtr object = server_.node(node->name());
    const bool ready = object && ready_status(*object) == "True";
    if (!ready) {
      return engine_.violate("the cluster recovers", within + node->name() + " is not Ready");
    }
  }
  for (const Workload& workload : scenario_.workloads) {
    if (workload.kind == WorkloadKind::job) continue;
    const int ready = recorder_.ready(title_of(workload));
    const int wanted = workloads_.wanted(workload.name);
    if (ready == wanted) continue;
    return engine_.violate("the cluster recovers", within + title_of(workload) + " has " +
                                                       std::to_string(ready) + " of " +
                                                       std::to_string(wanted) + " pods ready");
  }
}

SimOutcome simulate(const Scenario& scenario, const SimOptions& options) {
  World world(scenario, options);
  return world.run();
}

}  // namespace holdfast::agent::lab::sim
