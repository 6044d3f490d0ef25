#include <algorithm>
#include <optional>
#include <type_traits>

#include "agent/lab/sim/objects.h"
#include "agent/lab/sim/world.h"

namespace holdfast::agent::lab::sim {
namespace {

// Before and after a fault the nodes that it concerns are awake for this time, so that every
// periodic task has run.
constexpr Duration margin = std::chrono::minutes(1);

// "": every node, because the fault is at the API server or the controller. Nothing: no node.
std::optional<Target> target_of(const Action& action) {
  return std::visit(
      []([[maybe_unused]] const auto& one) -> std::optional<Target> {
        using One = std::decay_t<decltype(one)>;
        constexpr bool is_of_pods = std::is_same_v<One, Rollout> || std::is_same_v<One, Scale> ||
                                    std::is_same_v<One, DeletePods> || std::is_same_v<One, Drain> ||
                                    std::is_same_v<One, Uncordon>;
        if constexpr (is_of_pods) {
          return std::nullopt;
        } else if constexpr (std::is_same_v<One, ApiServerFault>) {
          return "";
        } else {
          if constexpr (std::is_same_v<One, Kill> || std::is_same_v<One, Pause>) {
            const bool central =
                one.process == Process::cloud || one.process == Process::api_server;
            if (central) return "";
          }
          return one.target == "cloud" ? "" : one.target;
        }
      },
      action);
}

// Without a duration these are over at once; other faults then last until the end.
bool is_short(const Action& action) {
  return std::holds_alternative<Heal>(action) || std::holds_alternative<Kill>(action) ||
         std::holds_alternative<ClockStep>(action) || std::holds_alternative<ClockDrift>(action) ||
         std::holds_alternative<Degrade>(action);
}

bool is_healthy(const sync::Node& node) {
  return ready_status(node) == "True" &&
         std::none_of(node.spec.taints.begin(), node.spec.taints.end(),
                      [](const auto& taint) { return taint.effect == "NoExecute"; });
}

}  // namespace

World::Nodes World::disturbed_by(const ScenarioEvent& event) {
  const auto target = target_of(event.action);
  if (!target) return {};
  return nodes_of(target->empty() ? "all" : *target);
}

void World::schedule_quiet_times() {
  awake_ = nodes_.size();
  for (const ScenarioEvent& event : scenario_.events) {
    const Duration begin = std::max(event.at - margin, Duration::zero());
    engine_.at(Engine::start + begin, [this, &event] { hold_awake(disturbed_by(event)); });
    if (!event.duration && !is_short(event.action)) continue;
    const Duration end = event.at + event.duration.value_or(Duration::zero()) + margin;
    engine_.at(Engine::start + end, [this, &event] {
      for (SimNode* node : disturbed_by(event)) node->let_go();
    });
  }
  look_for_quiet();
}

// Twice in each grace period. The controller does not hear quiet nodes, so it is told of their
// renewals here, unless it is quiet itself.
void World::look_for_quiet() {
  engine_.after(options_.cloud.rules.monitor_grace / 2, [this] { look_for_quiet(); });
  for (const auto& node : nodes_) {
    if (node->is_quiet() || !node->may_be_quiet()) continue;
    const NodePtr object = server_.node(node->name());
    if (!object || !is_healthy(*object)) continue;
    node->begin_quiet();
    --awake_;
  }
  if (awake_ == 0 && cloud_.is_idle()) return cloud_.set_quiet(true);
  skip_renewals();
  cloud_.set_quiet(false);
}

void World::skip_renewals() {
  for (const auto& node : nodes_) {
    if (!node->is_quiet()) continue;
    const WallTime renewed = node->skip_renewal();
    cloud_.lease_renewed(node->name(), renewed);
    invariants_.lease_renewed(node->name(), renewed);
  }
}

void World::hold_awake(const Nodes& nodes) {
  for (SimNode* node : nodes) node->hold_awake();
  const bool wakes =
      std::any_of(nodes.begin(), nodes.end(), [](const auto* node) { return node->is_quiet(); });
  if (!wakes) return;
  skip_renewals();
  cloud_.set_quiet(false);
  for (SimNode* node : nodes) {
    if (!node->is_quiet()) continue;
    skipped_ += node->end_quiet();
    ++awake_;
  }
}

}  // namespace holdfast::agent::lab::sim
