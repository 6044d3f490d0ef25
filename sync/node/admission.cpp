#include "sync/node/admission.h"

#include <algorithm>

#include "platform/text.h"
#include "sync/node/critical.h"
#include "sync/objects/names.h"
#include "sync/objects/qos.h"
#include "sync/objects/toleration.h"

namespace holdfast::sync::node {
namespace {

bool tolerates_memory_pressure(const Pod& pod) {
  const Taint taint{std::string(objects::taint_memory_pressure),
                    "",
                    std::string(objects::no_schedule),
                    std::nullopt,
                    {}};
  return std::any_of(pod.spec.tolerations.begin(), pod.spec.tolerations.end(),
                     [&taint](const Toleration& toleration) {
                       return objects::tolerates(toleration, taint, false);
                     });
}

Admission rejected(const AdmissionFailure& failure) {
  if (const auto* plugin = std::get_if<PluginFailure>(&failure)) {
    return {false, plugin->plugin, "Predicate " + plugin->plugin + " failed: " + plugin->text, {}};
  }
  const auto& missing = std::get<ResourceFailure>(failure);
  return {false,
          "OutOf" + missing.resource,
          "Node didn't have enough resource: " + missing.resource + ", requested: " +
              std::to_string(missing.requested) + ", used: " + std::to_string(missing.used) +
              ", capacity: " + std::to_string(missing.capacity),
          {}};
}

}  // namespace

Admission admit_under_pressure(const Pod& pod, const std::vector<std::string>& conditions) {
  if (conditions.empty() || is_critical(pod)) return {};
  const bool memory_only =
      conditions.size() == 1 && conditions.front() == objects::condition_memory_pressure;
  if (memory_only &&
      (objects::qos_class(pod) != objects::Qos::best_effort || tolerates_memory_pressure(pod))) {
    return {};
  }
  return {false, "Evicted", "The node had condition: [" + join(conditions, " ") + "]. ", {}};
}

Admission admit_after_failure(const Pod& pod, const Pods& running,
                              const std::vector<AdmissionFailure>& failures,
                              const schedule::Symbols& symbols) {
  if (failures.empty()) return {};
  if (!is_critical(pod)) return rejected(failures.front());
  Requirements missing;
  for (const AdmissionFailure& failure : failures) {
    const auto* resource = std::get_if<ResourceFailure>(&failure);
    if (resource == nullptr) return rejected(failure);
    missing.push_back(
        {resource->resource, resource->requested - (resource->capacity - resource->used)});
  }
  auto found = victims(pod, running, missing, symbols);
  if (found) return {true, {}, {}, std::move(*found)};
  return {false,
          "UnexpectedAdmissionError",
          "Unexpected error while attempting to recover from admission failure: preemption: error "
          "finding a set of pods to preempt: " +
              found.error().what,
          {}};
}

}  // namespace holdfast::sync::node
