// The fields of affinities, spreading and gates; see codec_fields.h.

#pragma once

#include "sync/api/codec_meta.h"

namespace holdfast::sync::codec {

inline constexpr std::string_view required_name = "requiredDuringSchedulingIgnoredDuringExecution";
inline constexpr std::string_view preferred_name =
    "preferredDuringSchedulingIgnoredDuringExecution";

template <class F, Is<NodeSelectorRequirement> T>
void fields(F& f, T& t) {
  f("key", t.key, always);
  f("operator", t.operator_name, always);
  f("values", t.values);
  f.rest(t.untouched);
}

template <class F, Is<NodeSelectorTerm> T>
void fields(F& f, T& t) {
  f("matchExpressions", t.match_expressions);
  f("matchFields", t.match_fields);
  f.rest(t.untouched);
}

template <class F, Is<NodeSelector> T>
void fields(F& f, T& t) {
  f("nodeSelectorTerms", t.node_selector_terms, always);
  f.rest(t.untouched);
}

template <class F, Is<PreferredSchedulingTerm> T>
void fields(F& f, T& t) {
  f("weight", t.weight, always);
  f("preference", t.preference);
  f.rest(t.untouched);
}

template <class F, Is<NodeAffinity> T>
void fields(F& f, T& t) {
  f(required_name, t.required);
  f(preferred_name, t.preferred);
  f.rest(t.untouched);
}

template <class F, Is<PodAffinityTerm> T>
void fields(F& f, T& t) {
  f("labelSelector", t.label_selector);
  f("namespaces", t.namespaces);
  f("topologyKey", t.topology_key, always);
  f("namespaceSelector", t.namespace_selector);
  f("matchLabelKeys", t.match_label_keys);
  f("mismatchLabelKeys", t.mismatch_label_keys);
  f.rest(t.untouched);
}

template <class F, Is<WeightedPodAffinityTerm> T>
void fields(F& f, T& t) {
  f("weight", t.weight, always);
  f("podAffinityTerm", t.pod_affinity_term);
  f.rest(t.untouched);
}

template <class F, Is<PodAffinity> T>
void fields(F& f, T& t) {
  f(required_name, t.required);
  f(preferred_name, t.preferred);
  f.rest(t.untouched);
}

template <class F, Is<Affinity> T>
void fields(F& f, T& t) {
  f("nodeAffinity", t.node_affinity);
  f("podAffinity", t.pod_affinity);
  f("podAntiAffinity", t.pod_anti_affinity);
  f.rest(t.untouched);
}

template <class F, Is<TopologySpreadConstraint> T>
void fields(F& f, T& t) {
  f("maxSkew", t.max_skew, always);
  f("topologyKey", t.topology_key, always);
  f("whenUnsatisfiable", t.when_unsatisfiable, always);
  f("labelSelector", t.label_selector);
  f("minDomains", t.min_domains);
  f("nodeAffinityPolicy", t.node_affinity_policy);
  f("nodeTaintsPolicy", t.node_taints_policy);
  f("matchLabelKeys", t.match_label_keys);
  f.rest(t.untouched);
}

template <class F, Is<PodSchedulingGate> T>
void fields(F& f, T& t) {
  f("name", t.name, always);
  f.rest(t.untouched);
}

}  // namespace holdfast::sync::codec
