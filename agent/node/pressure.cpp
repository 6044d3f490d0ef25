#include "agent/node/pressure.h"

namespace holdfast::agent::node {

bool needs_admission(const sync::Pod& pod) {
  const bool is_over = pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
  return !is_over && !pod.metadata.deletion_timestamp;
}

sync::node::Admission admit(const sync::Pod& pod, const Pressure& pressure) {
  return sync::node::admit_under_pressure(pod, pressure.conditions());
}

sync::PodStatus refused_status(const sync::node::Admission& refusal) {
  sync::PodStatus status;
  status.phase = "Failed";
  status.reason = refusal.reason;
  status.message = std::string(sync::node::rejected_prefix) + refusal.message;
  return status;
}

}  // namespace holdfast::agent::node
