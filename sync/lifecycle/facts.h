// The part of a node or pod that the rules read: a fraction of the object's size.

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

// The status of a condition. `absent`: there is no such condition; `other`: an unexpected text.
enum class Truth : std::uint8_t { absent, yes, no, unknown, other };

// Node conditions in upstream's order. `network` is only read, for its taint; the others are also
// written. Only kubelets before 1.13 post OutOfDisk; on nodes of newer ones it is ignored.
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
  std::string zone;       // zone_key()
  bool excluded = false;  // excluded_from_disruption()
  bool unschedulable = false;
  bool edge_worker = false;  // OpenYurt's label
  bool exempt = false;       // has label_exempt: the provider is never asked about it
  std::string provider_id;   // empty without Options::ask_provider
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
  bool ended = false;              // its phase is Succeeded or Failed
  bool disruption_marked = false;  // has the DisruptionTarget that a taint eviction writes
  bool node_lost = false;          // status.reason is NodeLost
  bool bindable = false;           // neither a DaemonSet's nor a mirror pod; see pod_binding.h
  StringMap labels;                // empty with Options::taint_based_evictions
  StringMap originals;             // originals_of(); empty without Options::bind_pods

  [[nodiscard]] std::string key() const { return namespace_name + "/" + name; }
  bool operator==(const PodFacts&) const = default;
};

[[nodiscard]] Truth truth_of(std::string_view status);
[[nodiscard]] NodeFacts facts_of(const Node& node, const Options& options);
[[nodiscard]] PodFacts facts_of(const Pod& pod, const Options& options);

// Whether resource version `left` is older than `right`, compared as decimal numbers. API servers
// guarantee this order from 1.35; with etcd it holds in all releases. False if one is no number.
[[nodiscard]] bool is_older_version(std::string_view left, std::string_view right);

// Whether the change from `left` to `right` requires a visit by the next pass. Heartbeat and
// transition times do not.
[[nodiscard]] bool differ_beyond_heartbeat(const NodeFacts& left, const NodeFacts& right);

}  // namespace holdfast::sync::lifecycle
