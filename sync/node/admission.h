// Decides, as the kubelet does, whether a pod may start on this node: under pressure, and when
// resources are missing. Pure.

#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sync/node/preemption.h"

namespace holdfast::sync::node {

struct Admission {
  bool admit = true;
  std::string reason;  // reason of the rejected pod's status; empty when admitted
  std::string message;
  Pods victims;  // pods to kill before this one starts

  bool operator==(const Admission&) const = default;
};

// `conditions` are the pressure conditions that are true now, in the order in which the caller
// keeps them.
[[nodiscard]] Admission admit_under_pressure(const Pod& pod,
                                             const std::vector<std::string>& conditions);

struct ResourceFailure {  // a missing resource; amounts in the units of a Requirement
  std::string resource;
  std::int64_t requested = 0;
  std::int64_t used = 0;
  std::int64_t capacity = 0;
};
struct PluginFailure {
  std::string plugin;
  std::string text;
};
using AdmissionFailure = std::variant<ResourceFailure, PluginFailure>;

// Decides about a pod that does not fit at present. If only resources are missing, a critical pod
// may preempt others.
[[nodiscard]] Admission admit_after_failure(const Pod& pod, const Pods& running,
                                            const std::vector<AdmissionFailure>& failures,
                                            const schedule::Symbols& symbols);

// How a preempted pod is reported: reason and message of its status and event, then reason and
// message of its DisruptionTarget condition.
inline constexpr std::string_view preempting_reason = "Preempting";
inline constexpr std::string_view preempting_message = "Preempted in order to admit critical pod";
inline constexpr std::string_view disruption_reason = "TerminationByKubelet";
inline constexpr std::string_view disruption_message =
    "Pod was preempted by Kubelet to accommodate a critical pod.";
// Prefix of the status message of a rejected pod.
inline constexpr std::string_view rejected_prefix = "Pod was rejected: ";

}  // namespace holdfast::sync::node
