// Where a pod may run: affinity to nodes and to other pods, spreading, and gates.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sync/api/boxed.h"
#include "sync/api/meta_types.h"

namespace holdfast::sync {

struct NodeSelectorRequirement {
  std::string key;
  std::string operator_name;  // "operator" on the wire: In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;
  Untouched untouched;

  bool operator==(const NodeSelectorRequirement&) const = default;
};

struct NodeSelectorTerm {  // all of it must match; without anything it matches no node
  std::vector<NodeSelectorRequirement> match_expressions;
  std::vector<NodeSelectorRequirement> match_fields;
  Untouched untouched;

  bool operator==(const NodeSelectorTerm&) const = default;
};

struct NodeSelector {
  std::vector<NodeSelectorTerm> node_selector_terms;  // one must match
  Untouched untouched;

  bool operator==(const NodeSelector&) const = default;
};

struct PreferredSchedulingTerm {
  std::int32_t weight = 0;  // 1 to 100
  NodeSelectorTerm preference;
  Untouched untouched;

  bool operator==(const PreferredSchedulingTerm&) const = default;
};

struct NodeAffinity {
  std::optional<NodeSelector> required;            // ...DuringSchedulingIgnoredDuringExecution
  std::vector<PreferredSchedulingTerm> preferred;  // the same
  Untouched untouched;

  bool operator==(const NodeAffinity&) const = default;
};

struct PodAffinityTerm {
  std::optional<LabelSelector> label_selector;  // absent: no pod
  std::vector<std::string> namespaces;
  std::string topology_key;
  std::optional<LabelSelector> namespace_selector;  // absent: none; empty: all
  std::vector<std::string> match_label_keys;
  std::vector<std::string> mismatch_label_keys;
  Untouched untouched;

  bool operator==(const PodAffinityTerm&) const = default;
};

struct WeightedPodAffinityTerm {
  std::int32_t weight = 0;  // 1 to 100
  PodAffinityTerm pod_affinity_term;
  Untouched untouched;

  bool operator==(const WeightedPodAffinityTerm&) const = default;
};

struct PodAffinity {  // and podAntiAffinity
  std::vector<PodAffinityTerm> required;
  std::vector<WeightedPodAffinityTerm> preferred;
  Untouched untouched;

  bool operator==(const PodAffinity&) const = default;
};

struct Affinity {
  std::optional<NodeAffinity> node_affinity;
  std::optional<PodAffinity> pod_affinity;
  std::optional<PodAffinity> pod_anti_affinity;
  Untouched untouched;

  bool operator==(const Affinity&) const = default;
};

struct TopologySpreadConstraint {
  std::int32_t max_skew = 0;
  std::string topology_key;
  std::string when_unsatisfiable;               // DoNotSchedule, ScheduleAnyway
  std::optional<LabelSelector> label_selector;  // absent: no pod
  std::optional<std::int32_t> min_domains;
  std::optional<std::string> node_affinity_policy;  // Honor (when absent), Ignore
  std::optional<std::string> node_taints_policy;    // Honor, Ignore (when absent)
  std::vector<std::string> match_label_keys;
  Untouched untouched;

  bool operator==(const TopologySpreadConstraint&) const = default;
};

struct PodSchedulingGate {
  std::string name;
  Untouched untouched;

  bool operator==(const PodSchedulingGate&) const = default;
};

}  // namespace holdfast::sync
