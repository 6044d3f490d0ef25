// Whether the node runs short of resources, and whether a new pod may start then.
//
// Threading: the loop's thread only.

#pragma once

#include <string>
#include <vector>

#include "sync/model/pod.h"
#include "sync/node/admission.h"

namespace holdfast::agent::node {

// Measures the node's resources. NoPressure is the only implementation so far, because the process
// runtime has no limits. Tests have a fake one.
class Pressure {
 public:
  virtual ~Pressure() = default;
  // The types of the pressure conditions that are True now ("MemoryPressure", "DiskPressure",
  // "PIDPressure"), in the order in which they became True.
  [[nodiscard]] virtual std::vector<std::string> conditions() const = 0;
};

class NoPressure final : public Pressure {
 public:
  [[nodiscard]] std::vector<std::string> conditions() const override { return {}; }
};

// Whether a pod that does not run here yet needs admit(): not if it is being deleted or has ended.
[[nodiscard]] bool needs_admission(const sync::Pod& pod);

// Whether such a pod may start now, as the kubelet decides it.
[[nodiscard]] sync::node::Admission admit(const sync::Pod& pod, const Pressure& pressure);

// The status of a pod that was refused: phase Failed, with the reason in the kubelet's words.
[[nodiscard]] sync::PodStatus refused_status(const sync::node::Admission& refusal);

}  // namespace holdfast::agent::node
