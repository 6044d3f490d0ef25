#include "agent/lab/sim/promises.h"

#include <algorithm>

#include "agent/lab/sim/objects.h"

namespace holdfast::agent::lab::sim {
namespace {

using Mode = sync::lifecycle::AutonomyMode;

bool is_autonomous(const sync::Node& node) {
  return node.metadata.annotations.get("node.beta.openyurt.io/autonomy") == "true" &&
         ready_status(node) != "True";
}

bool tolerates(const sync::Toleration& toleration, const sync::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  return toleration.operator_name == "Exists" || toleration.value == taint.value;
}

}  // namespace

bool has_ended(const sync::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

bool has_own_taint(const sync::Node& node, std::string_view effect) {
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(), [effect](const auto& each) {
    return each.effect == effect && (each.key == "node.kubernetes.io/unreachable" ||
                                     each.key == "node.kubernetes.io/not-ready");
  });
}

std::string zone_of(const sync::Node& node) {
  const std::string* found = node.metadata.labels.find("topology.kubernetes.io/zone");
  return found == nullptr ? "" : *found;
}

std::optional<Duration> stay_of(const sync::Pod& pod, const sync::Taint& taint) {
  std::optional<Duration> stay;
  for (const sync::Toleration& toleration : pod.spec.tolerations) {
    if (!tolerates(toleration, taint)) continue;
    Duration each = Duration::max();
    if (toleration.toleration_seconds) {
      each = std::chrono::seconds(std::max<std::int64_t>(0, *toleration.toleration_seconds));
    }
    stay = std::min(stay.value_or(Duration::max()), each);
  }
  return stay;
}

Duration stay_of(const sync::Pod& pod, const sync::Node& node) {
  Duration shortest = Duration::max();
  for (const sync::Taint& taint : node.spec.taints) {
    if (taint.effect != "NoExecute") continue;
    shortest = std::min(shortest, stay_of(pod, taint).value_or(Duration::zero()));
  }
  return shortest;
}

bool is_withheld(const sync::Node& node, const sync::lifecycle::Options& rules) {
  return is_autonomous(node) &&
         (rules.autonomy == Mode::withhold || rules.autonomy == Mode::openyurt_classic);
}

bool keeps_pods_ready(const sync::Node& node, const sync::lifecycle::Options& rules) {
  return is_autonomous(node) && rules.autonomy != Mode::off;
}

bool has_limited_autonomy(const sync::Node& node) {
  return !node.metadata.annotations.get("node.openyurt.io/autonomy-duration").empty();
}

}  // namespace holdfast::agent::lab::sim
