#include "agent/lab/scenario/describe.h"

namespace holdfast::agent::lab {
namespace {

std::string_view to_string(ApiFault fault) {
  switch (fault) {
    case ApiFault::unavailable:
      return "answers 503";
    case ApiFault::overloaded:
      return "answers 429";
    case ApiFault::silent_watch:
      return "watches are silent";
    case ApiFault::gone:
      return "watches end with 410";
    case ApiFault::empty_list:
      return "lists are empty";
    case ApiFault::old_version:
      return "was restored from a backup";
    case ApiFault::not_api:
      return "a captive portal answers";
    case ApiFault::bad_certificate:
      return "has a wrong certificate";
  }
  return "";
}

}  // namespace

std::string_view owner_kind(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::deployment:
      return "ReplicaSet";
    case WorkloadKind::daemon_set:
      return "DaemonSet";
    case WorkloadKind::stateful_set:
      return "StatefulSet";
    case WorkloadKind::job:
      return "Job";
  }
  return "";
}

std::string_view to_string(Process process) {
  switch (process) {
    case Process::kubelet:
      return "kubelet";
    case Process::edge:
      return "holdfast-edge";
    case Process::node_agent:
      return "holdfast-node";
    case Process::cloud:
      return "holdfast-cloud";
    case Process::api_server:
      return "API server";
  }
  return "";
}

Description describe(const Action& action) {
  return std::visit(
      [](const auto& one) -> Description {
        using One = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<One, Cut>) return {"link cut", one.target};
        if constexpr (std::is_same_v<One, Heal>) return {"link healed", one.target};
        if constexpr (std::is_same_v<One, Flap>) return {"link flaps", one.target};
        if constexpr (std::is_same_v<One, Degrade>) return {"link is " + one.link.name, one.target};
        if constexpr (std::is_same_v<One, PowerLoss>) return {"power lost", one.target};
        if constexpr (std::is_same_v<One, Kill>) {
          return {std::string(to_string(one.process)) + " killed", one.target};
        }
        if constexpr (std::is_same_v<One, Pause>) {
          return {std::string(to_string(one.process)) + " paused", one.target};
        }
        if constexpr (std::is_same_v<One, ClockStep>) {
          return {"clock stepped by " + format_duration(one.by), one.target};
        }
        if constexpr (std::is_same_v<One, ClockDrift>) return {"clock drifts", one.target};
        if constexpr (std::is_same_v<One, DiskFull>) return {"disk full", one.target};
        if constexpr (std::is_same_v<One, Drain>) return {"drained", one.target};
        if constexpr (std::is_same_v<One, Uncordon>) return {"uncordoned", one.target};
        if constexpr (std::is_same_v<One, Rollout>) return {"rolled out", one.workload};
        if constexpr (std::is_same_v<One, Scale>) return {"scaled", one.workload};
        if constexpr (std::is_same_v<One, DeletePods>) return {"pods deleted", one.workload};
        if constexpr (std::is_same_v<One, ApiServerFault>) {
          return {std::string(to_string(one.fault)), "API server"};
        }
      },
      action);
}

}  // namespace holdfast::agent::lab
