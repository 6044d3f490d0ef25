// A pod as the scheduler looks at it: everything parsed and compiled, once, when the pod comes in.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sync/schedule/affinity_term.h"
#include "sync/schedule/resources.h"

namespace holdfast::sync::schedule {

struct HostPort {
  std::string ip;  // "0.0.0.0" is any
  std::string protocol;
  std::int32_t port = 0;

  bool operator==(const HostPort&) const = default;
  [[nodiscard]] bool conflicts(const HostPort& other) const;
};

// Required terms only; most pods have none.
struct PodTerms {
  std::vector<AffinityTerm> affinity;
  std::vector<AffinityTerm> anti_affinity;
};

struct PodView {
  std::shared_ptr<const Pod> pod;  // never null
  std::int32_t priority = 0;
  std::optional<WallTime> started;  // copied, as sorting reads it often
  PodRequests requests;
  std::vector<HostPort> host_ports;  // of ordinary containers
  std::unique_ptr<const PodTerms> terms;

  // What in the pod cannot be read, and the plugin that would need it; empty: all can. Such an
  // amount counts as zero, such a term is left out.
  std::string problem;
  std::string_view problem_plugin;

  [[nodiscard]] const std::string& uid() const { return pod->metadata.uid; }
  [[nodiscard]] const std::string& name() const { return pod->metadata.name; }
  [[nodiscard]] const std::string& namespace_name() const { return pod->metadata.namespace_name; }
  [[nodiscard]] const std::string& node() const { return pod->spec.node_name; }
  [[nodiscard]] const std::vector<AffinityTerm>& affinity() const;
  [[nodiscard]] const std::vector<AffinityTerm>& anti_affinity() const;
};

using PodRef = std::shared_ptr<const PodView>;

[[nodiscard]] PodRef view_of(std::shared_ptr<const Pod> pod, Symbols& symbols);
[[nodiscard]] PodRef view_of(Pod pod, Symbols& symbols);

}  // namespace holdfast::sync::schedule
