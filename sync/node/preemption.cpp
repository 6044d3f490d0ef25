#include "sync/node/preemption.h"

#include <algorithm>
#include <iterator>

#include "sync/node/critical.h"
#include "sync/objects/qos.h"

namespace holdfast::sync::node {
namespace {

using schedule::PodRef;
using schedule::PodView;
using schedule::Symbols;

std::int64_t request_of(const PodView& pod, const std::string& resource, const Symbols& symbols) {
  const schedule::Resources& real = pod.requests.real;
  if (resource == "pods") return 1;
  if (resource == "cpu") return real.milli_cpu;
  if (resource == "memory") return real.memory;
  if (resource == "ephemeral-storage") return real.ephemeral_storage;
  for (const schedule::Scalar& scalar : real.scalars) {
    if (symbols.name(scalar.resource) == resource) return scalar.amount;
  }
  return 0;
}

// Whether `pod` requests less than `than`, by memory and then CPU. True for equal ones, as
// upstream.
bool is_smaller(const PodView& pod, const PodView& than) {
  const schedule::Resources& left = pod.requests.real;
  const schedule::Resources& right = than.requests.real;
  if (left.memory != right.memory) return left.memory < right.memory;
  return left.milli_cpu <= right.milli_cpu;
}

Pods joined(const Pods& left, const Pods& right) {
  Pods all = left;
  all.insert(all.end(), right.begin(), right.end());
  return all;
}

std::string text(const Requirements& requirements) {
  std::string out = "[";
  for (const Requirement& each : requirements) {
    out += "(res: " + each.resource + ", q: " + std::to_string(each.amount) + "), ";
  }
  return out + "]";
}

// Repeatedly takes the pod with the smallest distance(), and of equals the smallest pod.
Result<Pods> greedy(Pods pods, Requirements requirements, const Symbols& symbols) {
  Pods chosen;
  while (!requirements.empty()) {
    if (pods.empty()) {
      return fail(Errc::exhausted,
                  "no set of running pods found to reclaim resources: " + text(requirements));
    }
    double nearest = static_cast<double>(requirements.size()) + 1;
    std::size_t best = 0;
    for (std::size_t i = 0; i < pods.size(); ++i) {
      const double away = distance(requirements, *pods[i], symbols);
      const bool closer = away < nearest;
      if (!closer && (away > nearest || !is_smaller(*pods[i], *pods[best]))) continue;
      nearest = away;
      best = i;
    }
    chosen.push_back(pods[best]);
    requirements = subtract(requirements, {pods[best]}, symbols);
    pods[best] = pods.back();
    pods.pop_back();
  }
  return chosen;
}

}  // namespace

double distance(const Requirements& requirements, const PodView& pod, const Symbols& symbols) {
  double sum = 0;
  for (const Requirement& each : requirements) {
    const auto amount = static_cast<double>(each.amount);
    const auto freed = static_cast<double>(request_of(pod, each.resource, symbols));
    if (freed >= amount) continue;
    const double missing = (amount - freed) / amount;
    sum += missing * missing;
  }
  return sum;
}

Requirements subtract(const Requirements& requirements, const Pods& pods, const Symbols& symbols) {
  Requirements left;
  for (Requirement each : requirements) {
    for (const PodRef& pod : pods) each.amount -= request_of(*pod, each.resource, symbols);
    if (each.amount > 0) left.push_back(std::move(each));
  }
  return left;
}

Result<Pods> victims(const Pod& preemptor, const Pods& running, const Requirements& requirements,
                     const Symbols& symbols) {
  Pods best_effort;
  Pods burstable;
  Pods guaranteed;
  for (const PodRef& pod : running) {
    if (!may_preempt(preemptor, *pod->pod)) continue;
    const objects::Qos qos = objects::qos_class(*pod->pod);
    (qos == objects::Qos::best_effort ? best_effort
     : qos == objects::Qos::burstable ? burstable
                                      : guaranteed)
        .push_back(pod);
  }
  const Pods all = joined(joined(best_effort, burstable), guaranteed);
  if (const Requirements left = subtract(requirements, all, symbols); !left.empty()) {
    return fail(Errc::exhausted,
                "no set of running pods found to reclaim resources: " + text(left));
  }
  const auto without = [&requirements, &symbols](const Pods& gone) {
    return subtract(requirements, gone, symbols);
  };
  TRY(const Pods of_guaranteed,
      greedy(guaranteed, without(joined(best_effort, burstable)), symbols));
  TRY(const Pods of_burstable,
      greedy(burstable, without(joined(best_effort, of_guaranteed)), symbols));
  TRY(const Pods of_best_effort,
      greedy(best_effort, without(joined(of_burstable, of_guaranteed)), symbols));
  return joined(joined(of_best_effort, of_burstable), of_guaranteed);
}

}  // namespace holdfast::sync::node
