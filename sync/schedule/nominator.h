// Which pods have been promised which node, until they are bound or the promise is withdrawn.
//
// A promise reserves nothing: it only counts for filters (Chain::check_twice) and says where a pod
// is tried first.

#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sync/schedule/pod_view.h"

namespace holdfast::sync::schedule {

// What an attempt says of a pod's nomination: nothing (it stays), a node, or "" (it ends).
using Nomination = std::optional<std::string>;

class Nominator {
 public:
  // Without a nomination the pod's own status counts. A pod that has a node gets no promise.
  void add(const PodRef& pod, const Nomination& nomination = std::nullopt);
  // The pod changed. What is remembered stays when neither object carries a nomination: then the
  // patch that will say so is on its way.
  void update(const PodRef& before, const PodRef& after);
  void remove(const std::string& uid);

  // In order of arrival.
  [[nodiscard]] std::span<const PodRef> on(std::string_view node) const;
  // "" when there is none.
  [[nodiscard]] std::string node_of(const std::string& uid) const;
  // Those on `node` that are less important than `pod`.
  [[nodiscard]] std::vector<PodRef> below(std::string_view node, const PodView& pod) const;

 private:
  std::map<std::string, std::vector<PodRef>, std::less<>> pods_;  // by node
  std::unordered_map<std::string, std::string> nodes_;            // by uid
};

}  // namespace holdfast::sync::schedule
