// What a fleet of hollow nodes is and how it behaves. "Hollow" is kubemark's term: the objects
// exist in the API, but no kubelet runs the pods.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/time.h"
#include "sync/model/node.h"

namespace holdfast::agent::hollow {

using NodeId = std::uint32_t;  // index in Plan::nodes

// Every hollow node has this label. A node without it is never touched.
inline constexpr const char* hollow_label = "holdfast.dev/hollow";

struct Plan {
  std::vector<std::string> nodes;   // names; all different
  std::vector<std::string> zones;   // node i is in zone i modulo their number; empty: no zone
  sync::StringMap labels;           // of all nodes, besides those of a kubelet
  std::vector<sync::Taint> taints;  // that the nodes register with
  std::string cpu = "32";           // capacity of each node
  std::string memory = "256Gi";
  std::string pods = "110";
  std::string pod_selector;  // labels of the pods that are run; "": all

  // The kubelet's defaults.
  Duration lease_interval = std::chrono::seconds(10);
  std::int32_t lease_seconds = 40;  // spec.leaseDurationSeconds; above lease_interval
  Duration status_interval = std::chrono::minutes(5);
  // Whether the nodes take turns during the interval. Otherwise all of them are due at its
  // beginning, so that they fall silent together when their link is cut.
  bool spread = true;

  Duration pods_start = std::chrono::seconds(2);  // from being bound to Running and Ready
  Duration pods_stop = std::chrono::seconds(1);   // from deletion to removal; at most the grace
  // Run time of a pod with restartPolicy Never or OnFailure, such as those of a Job, until it
  // succeeds. Other pods run until they are deleted.
  Duration pod_lifetime = std::chrono::seconds(10);

  Duration request_limit = std::chrono::seconds(10);  // for each request
  std::size_t requests_max = 32;                      // at the same time

  [[nodiscard]] std::string zone_of(NodeId node) const {
    return zones.empty() ? std::string() : zones[node % zones.size()];
  }
  // The labels that the node registers with.
  [[nodiscard]] sync::StringMap labels_of(NodeId node) const;
};

}  // namespace holdfast::agent::hollow
