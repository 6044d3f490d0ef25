// May a pod start on this node at all? Under pressure, and when something is missing.

#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sync/node/preemption.h"

namespace holdfast::sync::node {

struct Admission {
  bool admit = true;
  std::string reason;  // of the failed pod's status; empty when admitted
  std::string message;
  Pods victims;  // to be killed before the pod starts

  bool operator==(const Admission&) const = default;
};

// `conditions` are the pressure conditions that hold now, in the order they are held.
[[nodiscard]] Admission admit_under_pressure(const Pod& pod,
                                             const std::vector<std::string>& conditions);

struct ResourceFailure {  // requested, and used and there; in a Requirement's units
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

// What becomes of a pod that does not fit as things are: a critical one may take the place of
// others if only resources are missing.
[[nodiscard]] Admission admit_after_failure(const Pod& pod, const Pods& running,
                                            const std::vector<AdmissionFailure>& failures,
                                            const schedule::Symbols& symbols);

// How a victim ends: the reason of its status and of the event, and the message of both; then the
// reason and message of its condition DisruptionTarget.
inline constexpr std::string_view preempting_reason = "Preempting";
inline constexpr std::string_view preempting_message = "Preempted in order to admit critical pod";
inline constexpr std::string_view disruption_reason = "TerminationByKubelet";
inline constexpr std::string_view disruption_message =
    "Pod was preempted by Kubelet to accommodate a critical pod.";
// In front of the message of a pod that is refused, in its status.
inline constexpr std::string_view rejected_prefix = "Pod was rejected: ";

}  // namespace holdfast::sync::node
