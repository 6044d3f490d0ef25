// A pod as the scheduler uses it: everything is parsed and compiled once, when the pod arrives.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sync/schedule/affinity_term.h"
#include "sync/schedule/requests.h"

namespace holdfast::sync::schedule {

struct HostPort {
  std::string ip;  // "0.0.0.0": any address
  std::string protocol;
  std::int32_t port = 0;

  bool operator==(const HostPort&) const = default;
  [[nodiscard]] bool conflicts(const HostPort& other) const;
};

// The required terms of affinity and anti-affinity to other pods.
struct PodTerms {
  std::vector<AffinityTerm> affinity;
  std::vector<AffinityTerm> anti_affinity;
};

// A claim that a volume of the pod uses.
struct ClaimUse {
  std::string claim;          // its name; the namespace is that of the pod
  bool is_ephemeral = false;  // the claim is made for this pod
};

// The volumes of a pod that concern its placement.
struct PodVolumes {
  std::vector<ClaimUse> claims;
  std::vector<const PodVolume*> disks;  // of network disks that pods on one node may not share
};

struct PodView {
  std::shared_ptr<const Pod> pod;  // never null
  std::int32_t priority = 0;
  std::optional<WallTime> started;  // a copy, because sorting reads it often
  PodRequests requests;
  std::vector<HostPort> host_ports;           // of ordinary containers
  std::unique_ptr<const PodTerms> terms;      // null for most pods: no required terms
  std::unique_ptr<const PodVolumes> volumes;  // null: none that concern its placement

  // The first invalid field and the plugin that needs it; empty if all are valid. Invalid requests
  // count as zero, an invalid term is omitted.
  std::string problem;
  std::string_view problem_plugin;

  [[nodiscard]] const std::string& uid() const { return pod->metadata.uid; }
  [[nodiscard]] const std::string& name() const { return pod->metadata.name; }
  [[nodiscard]] const std::string& namespace_name() const { return pod->metadata.namespace_name; }
  [[nodiscard]] const std::string& node() const { return pod->spec.node_name; }
  [[nodiscard]] const std::vector<AffinityTerm>& affinity() const;
  [[nodiscard]] const std::vector<AffinityTerm>& anti_affinity() const;
  [[nodiscard]] const std::vector<ClaimUse>& claims() const;
  // Whether a volume of the pod uses the claim of this name in the pod's namespace.
  [[nodiscard]] bool uses_claim(std::string_view name) const;
};

using PodRef = std::shared_ptr<const PodView>;

[[nodiscard]] PodRef view_of(std::shared_ptr<const Pod> pod, Symbols& symbols);
[[nodiscard]] PodRef view_of(Pod pod, Symbols& symbols);

}  // namespace holdfast::sync::schedule
