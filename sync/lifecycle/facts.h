// What the rules know of a node or pod: only what they read, a fraction of the object's size.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/time.h"
#include "sync/lifecycle/autonomy.h"
#include "sync/lifecycle/options.h"
#include "sync/model/node.h"
#include "sync/model/pod.h"
#include "sync/model/workload.h"

namespace holdfast::sync::lifecycle {

// The status of a condition; `absent` when there is no such condition.
enum class Truth : std::uint8_t { absent, yes, no, unknown, other };

// The conditions we judge or write, in upstream's order, and the one that only taints. Kubelets
// before 1.13 know out_of_disk, too; what newer ones say about it is ignored.
enum class ConditionType : std::uint8_t { ready, out_of_disk, memory, disk, pid, network };
inline constexpr std::size_t condition_types = 6;

[[nodiscard]] std::string_view to_string(ConditionType type);

struct ConditionFacts {
  Truth status = Truth::absent;
  std::optional<WallTime> heartbeat;
  std::optional<WallTime> transition;

  bool operator==(const ConditionFacts&) const = default;
};

struct NodeFacts {
  std::string name;
  std::string uid;
  std::string resource_version;
  WallTime created{};
  std::string zone;  // zone_key()
  bool excluded = false;
  bool unschedulable = false;
  bool edge_worker = false;  // OpenYurt's label
  bool exempt = false;       // its existence is nobody's business: label_exempt
  std::string provider_id;   // empty unless the provider is asked
  Autonomy autonomy;
  std::vector<Taint> taints;
  std::array<ConditionFacts, condition_types> conditions;

  [[nodiscard]] const ConditionFacts& condition(ConditionType type) const {
    return conditions[static_cast<std::size_t>(type)];
  }
  [[nodiscard]] ConditionFacts& condition(ConditionType type) {
    return conditions[static_cast<std::size_t>(type)];
  }
  [[nodiscard]] const ConditionFacts& ready() const { return condition(ConditionType::ready); }

  bool operator==(const NodeFacts&) const = default;
};

struct PodFacts {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string node;  // empty: not scheduled
  std::vector<Toleration> tolerations;
  Truth ready = Truth::absent;
  bool terminating = false;        // it has a deletion grace period
  bool ended = false;              // Succeeded or Failed
  bool disruption_marked = false;  // DisruptionTarget is there as a taint eviction writes it
  bool node_lost = false;          // status.reason is NodeLost
  bool bindable = false;           // neither a DaemonSet's nor a mirror pod; see pod_binding.h
  StringMap labels;                // empty unless direct eviction needs them
  StringMap originals;             // annotations of the pod binding; empty unless it runs

  [[nodiscard]] std::string key() const { return namespace_name + "/" + name; }
  bool operator==(const PodFacts&) const = default;
};

[[nodiscard]] Truth truth_of(std::string_view status);
[[nodiscard]] NodeFacts facts_of(const Node& node, const Options& options);
[[nodiscard]] PodFacts facts_of(const Pod& pod, const Options& options);

// Whether resource version `left` was issued before `right`, by their order as decimal numbers
// (guaranteed by API servers from 1.35, true of all with etcd). False when one is not a number.
[[nodiscard]] bool is_older_version(std::string_view left, std::string_view right);

// Whether a change between the two matters to anything but the heartbeat clock.
[[nodiscard]] bool differ_beyond_heartbeat(const NodeFacts& left, const NodeFacts& right);

}  // namespace holdfast::sync::lifecycle
