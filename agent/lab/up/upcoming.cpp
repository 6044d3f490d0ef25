#include "agent/lab/up/upcoming.h"

#include <algorithm>

#include "sync/lifecycle/autonomy.h"
#include "sync/lifecycle/taints.h"
#include "sync/model/find.h"
#include "sync/objects/names.h"
#include "sync/objects/toleration.h"

namespace holdfast::agent::lab::up {
namespace {

namespace lifecycle = sync::lifecycle;
namespace objects = sync::objects;

std::string short_key(const std::string& key) { return key.substr(key.rfind('/') + 1); }

// The taint that the controller puts on a node that is not Ready.
sync::Taint taint_for(const std::string& ready) {
  sync::Taint taint;
  taint.key = ready == "False" ? objects::taint_not_ready : objects::taint_unreachable;
  taint.effect = objects::no_execute;
  return taint;
}

// How long the pod may stay with these taints; nullopt: for ever.
std::optional<Duration> patience_of(const sync::Pod& pod, const std::vector<sync::Taint>& taints,
                                    const lifecycle::Options& rules) {
  if (taints.empty()) return std::nullopt;
  const auto used =
      objects::matching_tolerations(taints, pod.spec.tolerations, rules.comparison_tolerations);
  return used ? objects::shortest_toleration(*used) : Duration::zero();
}

std::string pod_name(const sync::Pod& pod) {
  return pod.metadata.namespace_name + "/" + pod.metadata.name;
}

std::string tolerated_text(const std::vector<sync::Taint>& taints, Duration patience) {
  std::string text = short_key(taints.front().key);
  return text += patience > Duration::zero() ? ", tolerated for " + seconds_text(patience)
                                             : ", not tolerated";
}

bool can_be_evicted(const sync::Pod& pod) {
  return !pod.metadata.deletion_timestamp && pod.status.phase != "Succeeded" &&
         pod.status.phase != "Failed";
}

// The evictions that the NoExecute taints of a node lead to.
void add_evictions(std::vector<Upcoming>& found, const std::string& node,
                   const std::vector<const sync::Pod*>& pods,
                   const std::vector<sync::Taint>& taints, const lifecycle::Options& rules,
                   WallTime wall) {
  WallTime since = wall;
  for (const sync::Taint& taint : taints) since = std::min(since, taint.time_added.value_or(wall));
  for (const sync::Pod* pod : pods) {
    const auto patience = patience_of(*pod, taints, rules);
    if (!patience || !can_be_evicted(*pod)) continue;
    found.push_back({.when = Upcoming::When::at,
                     .in = std::max(Duration::zero(), since + *patience - wall),
                     .what = "evict " + pod_name(*pod) + " from " + node,
                     .reason = tolerated_text(taints, *patience)});
  }
}

struct Withholding {
  bool withheld = false;
  std::string until;  // ", for another 2h0m0s", or ""
};

Withholding withholding_of(const sync::Node& node, const sync::NodeCondition& ready,
                           const lifecycle::Options& rules, Moment now) {
  const auto autonomy = lifecycle::autonomy_of(node.metadata.annotations);
  const Duration silent = now.wall - ready.last_transition_time.value_or(now.wall);
  const MonoTime since = now.mono - silent;
  if (!lifecycle::is_withheld(autonomy, rules.autonomy, since, now.mono)) return {};
  const MonoTime end = lifecycle::withheld_until(autonomy, since);
  if (end == MonoTime::max()) return {.withheld = true, .until = {}};
  return {.withheld = true, .until = ", for another " + seconds_text(end - now.mono)};
}

// A node that is not Ready and has no taint that counts: its pods stay for now. `taints` are those
// that it may get.
void add_kept(std::vector<Upcoming>& found, const sync::Node& node,
              const std::vector<const sync::Pod*>& pods, const Withholding& withholding,
              const std::vector<sync::Taint>& taints, const lifecycle::Options& rules) {
  for (const sync::Pod* pod : pods) {
    if (!patience_of(*pod, taints, rules) || !can_be_evicted(*pod)) continue;
    found.push_back(
        {.when = withholding.withheld ? Upcoming::When::withheld : Upcoming::When::waiting,
         .in = {},
         .what = "evict " + pod_name(*pod) + " from " + node.metadata.name,
         .reason = withholding.withheld ? "autonomous" + withholding.until
                                        : "the node has no NoExecute taint yet"});
  }
}

}  // namespace

std::vector<Upcoming> upcoming_on(const sync::Node& node, const std::vector<const sync::Pod*>& pods,
                                  const LeaseSeen* lease, const lifecycle::Options& rules,
                                  Moment now) {
  std::vector<Upcoming> found;
  const sync::NodeCondition* ready = find_condition(node.status, "Ready");
  const bool is_ready = ready != nullptr && ready->status == "True";
  const Duration silent = lease == nullptr ? Duration::zero() : now.mono - lease->at;
  if (is_ready && silent > rules.monitor_grace / 2) {
    found.push_back({.when = Upcoming::When::at,
                     .in = std::max(Duration::zero(), rules.monitor_grace - silent),
                     .what = "show " + node.metadata.name + " as Unknown",
                     .reason = "no heartbeat for " + seconds_text(silent)});
  }
  auto taints = objects::no_execute_taints(node.spec.taints);
  Withholding withholding;
  if (ready != nullptr && !is_ready) withholding = withholding_of(node, *ready, rules, now);
  if (withholding.withheld) taints = lifecycle::without_own_no_execute(taints);
  if (!taints.empty()) {
    add_evictions(found, node.metadata.name, pods, taints, rules, now.wall);
  } else if (ready != nullptr && !is_ready) {
    add_kept(found, node, pods, withholding, {taint_for(ready->status)}, rules);
  }
  return found;
}

}  // namespace holdfast::agent::lab::up
