// Which pods are nominated to which node, until they are bound or the nomination is withdrawn.
//
// A nomination reserves nothing. Filters count nominated pods (Chain::check_twice), and the next
// attempt of a pod tries its nominated node first.

#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sync/schedule/pod_view.h"

namespace holdfast::sync::schedule {

// A change of a pod's nomination: nullopt (it stays), a node name, or "" (it ends).
using Nomination = std::optional<std::string>;

class Nominator {
 public:
  // Adds or replaces the pod's nomination; nullopt takes it from the pod's status. A pod that has a
  // node gets no nomination.
  void add(const PodRef& pod, const Nomination& nomination = std::nullopt);
  // The pod changed. If neither version has a nomination in its status, the known nomination stays,
  // because the patch that writes it is still in flight.
  void update(const PodRef& before, const PodRef& after);
  void remove(const std::string& uid);

  // The pods nominated to `node`, in order of arrival. Borrowed until the next change.
  [[nodiscard]] std::span<const PodRef> on(std::string_view node) const;
  // The node to which the pod is nominated, or "".
  [[nodiscard]] std::string node_of(const std::string& uid) const;
  // The pods nominated to `node` whose priority is lower than that of `pod`.
  [[nodiscard]] std::vector<PodRef> below(std::string_view node, const PodView& pod) const;

 private:
  std::map<std::string, std::vector<PodRef>, std::less<>> pods_;  // by node
  std::unordered_map<std::string, std::string> nodes_;            // by uid
};

}  // namespace holdfast::sync::schedule
