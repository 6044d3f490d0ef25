// The fields of affinities, spreading and gates; see message_reader.h.

#pragma once

#include "sync/protobuf/message_reader.h"
#include "sync/protobuf/wire/pod.pb.h"

namespace holdfast::sync::proto {

inline constexpr std::string_view required_name = "requiredDuringSchedulingIgnoredDuringExecution";
inline constexpr std::string_view preferred_name =
    "preferredDuringSchedulingIgnoredDuringExecution";

template <class F>
void fields(F& f, const wire::LabelSelectorRequirement& m, LabelSelectorRequirement& t) {
  f(1, "key", m.key(), t.key);
  f(2, "operator", m.operator_(), t.operator_name);
  f(3, "values", m.values(), t.values);
}

template <class F>
void fields(F& f, const wire::LabelSelector& m, LabelSelector& t) {
  f(1, "matchLabels", m.match_labels(), t.match_labels);
  f(2, "matchExpressions", m.match_expressions(), t.match_expressions);
}

template <class F>
void fields(F& f, const wire::NodeSelectorRequirement& m, NodeSelectorRequirement& t) {
  f(1, "key", m.key(), t.key);
  f(2, "operator", m.operator_(), t.operator_name);
  f(3, "values", m.values(), t.values);
}

template <class F>
void fields(F& f, const wire::NodeSelectorTerm& m, NodeSelectorTerm& t) {
  f(1, "matchExpressions", m.match_expressions(), t.match_expressions);
  f(2, "matchFields", m.match_fields(), t.match_fields);
}

template <class F>
void fields(F& f, const wire::NodeSelector& m, NodeSelector& t) {
  f(1, "nodeSelectorTerms", m.node_selector_terms(), t.node_selector_terms);
}

template <class F>
void fields(F& f, const wire::PreferredSchedulingTerm& m, PreferredSchedulingTerm& t) {
  f(1, "weight", m.weight(), t.weight);
  f(2, "preference", m.preference(), t.preference);
}

template <class F>
void fields(F& f, const wire::NodeAffinity& m, NodeAffinity& t) {
  f(1, required_name, m.has_required(), m.required(), t.required);
  f(2, preferred_name, m.preferred(), t.preferred);
}

template <class F>
void fields(F& f, const wire::PodAffinityTerm& m, PodAffinityTerm& t) {
  f(1, "labelSelector", m.has_label_selector(), m.label_selector(), t.label_selector);
  f(2, "namespaces", m.namespaces(), t.namespaces);
  f(3, "topologyKey", m.topology_key(), t.topology_key);
  f(4, "namespaceSelector", m.has_namespace_selector(), m.namespace_selector(),
    t.namespace_selector);
  f(5, "matchLabelKeys", m.match_label_keys(), t.match_label_keys);
  f(6, "mismatchLabelKeys", m.mismatch_label_keys(), t.mismatch_label_keys);
}

template <class F>
void fields(F& f, const wire::WeightedPodAffinityTerm& m, WeightedPodAffinityTerm& t) {
  f(1, "weight", m.weight(), t.weight);
  f(2, "podAffinityTerm", m.pod_affinity_term(), t.pod_affinity_term);
}

template <class F>
void fields(F& f, const wire::PodAffinity& m, PodAffinity& t) {
  f(1, required_name, m.required(), t.required);
  f(2, preferred_name, m.preferred(), t.preferred);
}

template <class F>
void fields(F& f, const wire::Affinity& m, Affinity& t) {
  f(1, "nodeAffinity", m.has_node_affinity(), m.node_affinity(), t.node_affinity);
  f(2, "podAffinity", m.has_pod_affinity(), m.pod_affinity(), t.pod_affinity);
  f(3, "podAntiAffinity", m.has_pod_anti_affinity(), m.pod_anti_affinity(), t.pod_anti_affinity);
}

template <class F>
void fields(F& f, const wire::TopologySpreadConstraint& m, TopologySpreadConstraint& t) {
  f(1, "maxSkew", m.max_skew(), t.max_skew);
  f(2, "topologyKey", m.topology_key(), t.topology_key);
  f(3, "whenUnsatisfiable", m.when_unsatisfiable(), t.when_unsatisfiable);
  f(4, "labelSelector", m.has_label_selector(), m.label_selector(), t.label_selector);
  f(5, "minDomains", m.has_min_domains(), m.min_domains(), t.min_domains);
  f(6, "nodeAffinityPolicy", m.has_node_affinity_policy(), m.node_affinity_policy(),
    t.node_affinity_policy);
  f(7, "nodeTaintsPolicy", m.has_node_taints_policy(), m.node_taints_policy(),
    t.node_taints_policy);
  f(8, "matchLabelKeys", m.match_label_keys(), t.match_label_keys);
}

template <class F>
void fields(F& f, const wire::PodSchedulingGate& m, PodSchedulingGate& t) {
  f(1, "name", m.name(), t.name);
}

}  // namespace holdfast::sync::proto
