#include "agent/lab/sim/invariants.h"

#include <algorithm>
#include <utility>

#include "agent/lab/sim/objects.h"
#include "agent/lab/sim/promises.h"

namespace holdfast::agent::lab::sim {
namespace {

std::optional<WallTime> heartbeat_of(const sync::Node& node) {
  const auto* ready = sync::find_condition(node.status, "Ready");
  return ready == nullptr ? std::nullopt : ready->last_heartbeat_time;
}

// Whether new pods that tolerate nothing must not be placed there.
bool is_closed(const sync::Node& node) {
  return node.spec.unschedulable ||
         std::any_of(node.spec.taints.begin(), node.spec.taints.end(), [](const auto& each) {
           return each.effect == "NoSchedule" || each.effect == "NoExecute";
         });
}

bool has_no_execute(const sync::Node& node) {
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(),
                     [](const auto& each) { return each.effect == "NoExecute"; });
}

}  // namespace

Invariants::Invariants(Engine& engine, Server& server, const sync::lifecycle::Options& rules,
                       NodeObserver& next)
    : engine_(engine), server_(server), rules_(rules), next_(next) {
  server_.on_change([this](const Change& change) { observe(change); });
}

void Invariants::observe(const Change& change) {
  if (change.lease) {
    lease_renewed(change.lease->metadata.name, *change.lease->spec.renew_time);
  } else if (change.node) {
    observe_node(change);
  } else {
    observe_pod(change);
  }
}

// A renewal that is not later than all before does not count, as upstream defines it.
void Invariants::lease_renewed(const std::string& node, WallTime renewed) {
  NodeFacts& facts = nodes_[node];
  if (server_.has(ApiFault::silent_watch)) leases_silent_ = engine_.now();
  if (renewed > facts.renewed) facts.contact = engine_.now();
  facts.renewed = std::max(facts.renewed, renewed);
}

MonoTime Invariants::last_contact(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? MonoTime::min() : found->second.contact;
}

MonoTime Invariants::last_pod(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? MonoTime::min() : found->second.pod;
}

void Invariants::control_plane_is(bool answers) {
  if (!answers) {
    if (!outage_began_) outage_began_ = engine_.now();
    return;
  }
  if (!outage_began_) return;
  const bool is_long = engine_.now() - *outage_began_ >= rules_.monitor_grace;
  // A controller that has started meanwhile knows nothing of the time before.
  if (is_long && controller_started_ < *outage_began_) outage_ended_ = engine_.now();
  outage_began_.reset();
}

// ---------------------------------------------------------------------------------------- nodes

void Invariants::observe_node(const Change& change) {
  const sync::Node& node = *change.node;
  const std::string& name = node.metadata.name;
  if (change.type == ChangeType::deleted) {
    nodes_.erase(name);
    return;
  }
  NodeFacts& facts = nodes_[name];
  // Upstream's sign of life is another heartbeat time, not every write.
  if (heartbeat_of(node) != (facts.last ? heartbeat_of(*facts.last) : std::nullopt)) {
    facts.contact = engine_.now();
  }
  if (server_.has(ApiFault::silent_watch)) leases_silent_ = engine_.now();
  if (change.by == Actor::lifecycle && facts.last) {
    const bool became_unknown =
        ready_status(node) == "Unknown" && ready_status(*facts.last) != "Unknown";
    if (became_unknown) check_unknown(name, facts);
    if (has_own_taint(node, "NoExecute") && !has_own_taint(*facts.last, "NoExecute"))
      check_taint(node, facts);
  }
  if (has_no_execute(node)) {
    facts.tainted_until = MonoTime::max();
  } else if (facts.tainted_until == MonoTime::max()) {
    facts.tainted_until = engine_.now();
  }
  if (!is_closed(node)) {
    facts.closed_since = MonoTime::max();
  } else if (facts.closed_since == MonoTime::max()) {
    facts.closed_since = engine_.now();
  }
  facts.last = change.node;
}

void Invariants::check_outage(const std::string& what) {
  if (outage_ended_ == MonoTime::min()) return;
  const Duration since = engine_.now() - outage_ended_;
  if (since + slack >= rules_.monitor_grace) return;
  engine_.violate("an outage of the API server counts for no node",
                  what + " " + format_duration(since) + " after it");
}

void Invariants::check_unknown(const std::string& name, const NodeFacts& facts) {
  check_outage(name + " became Unknown");
  if (facts.contact == MonoTime::min()) return;
  const Duration silent = engine_.now() - facts.contact;
  if (silent + slack >= rules_.monitor_grace) return;
  engine_.violate("only a silent node becomes Unknown",
                  name + " was heard " + format_duration(silent) + " ago");
}

void Invariants::check_taint(const sync::Node& node, const NodeFacts& facts) {
  const std::string& name = node.metadata.name;
  if (ready_status(node) == "True" && facts.last && ready_status(*facts.last) == "True") {
    engine_.violate("only a node that is not ready is tainted", name + " is Ready");
  }
  if (is_withheld(node, rules_)) {
    engine_.violate("an autonomous node is not tainted", name);
  }
  check_outage(name + " was tainted");
  // All nodes silent: the cause is on our side. After its watch of leases was silent, the
  // controller may have learned of the last renewals up to a grace period late.
  const bool learns_late = leases_silent_ != MonoTime::min() &&
                           engine_.now() - leases_silent_ < 3 * rules_.monitor_grace;
  const Duration alive_for =
      (learns_late ? 2 : 1) * rules_.monitor_grace + 2 * rules_.monitor_period;
  const bool any_alive =
      std::any_of(nodes_.begin(), nodes_.end(), [this, alive_for](const auto& each) {
        const MonoTime contact = each.second.contact;
        return contact != MonoTime::min() && engine_.now() - contact < alive_for;
      });
  const bool is_settled =
      engine_.now() - controller_started_ >= rules_.monitor_grace + 2 * rules_.monitor_period;
  if (!any_alive && is_settled && nodes_.size() > 1) {
    engine_.violate("no node is tainted while all are silent", name);
  }
  check_rate(node);
}

void Invariants::check_rate(const sync::Node& node) {
  const float rate = std::max(rules_.eviction_rate, rules_.secondary_eviction_rate);
  if (rate <= 0) return;
  const auto interval =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1 / rate));
  const std::string zone = zone_of(node);
  const auto last = last_taint_.find(zone);
  if (last != last_taint_.end() && engine_.now() - last->second + slack < interval) {
    engine_.violate("nodes are tainted at the configured rate",
                    node.metadata.name + ": " + format_duration(engine_.now() - last->second) +
                        " after another node of zone " + zone);
  }
  last_taint_[zone] = engine_.now();
}

}  // namespace holdfast::agent::lab::sim
