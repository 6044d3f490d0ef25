#include "sync/node/critical.h"

#include "sync/objects/names.h"

namespace holdfast::sync::node {

// scheduling.SystemCriticalPriority; user classes stay below.
constexpr std::int32_t system_priority = 2'000'000'000;

bool is_static(const Pod& pod) {
  const std::string* source = pod.metadata.annotations.find("kubernetes.io/config.source");
  return source != nullptr && *source != "api";
}

bool is_critical(const Pod& pod) {
  return is_static(pod) || pod.metadata.annotations.has(objects::annotation_mirror_pod) ||
         pod.spec.priority.value_or(0) >= system_priority;
}

bool may_preempt(const Pod& preemptor, const Pod& victim) {
  if (is_critical(preemptor) && !is_critical(victim)) return true;
  return preemptor.spec.priority && victim.spec.priority &&
         *preemptor.spec.priority > *victim.spec.priority;
}

}  // namespace holdfast::sync::node
