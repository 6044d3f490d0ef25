// Which nodes of a run have a real kubelet.

#pragma once

#include <set>
#include <string>

#include "agent/lab/scenario/scenario.h"
#include "platform/result.h"

namespace holdfast::agent::lab::run {

// What a kubelet needs of the rest of a run.
struct KubeletSurroundings {
  bool namespaces = false;      // each node has a network namespace
  bool server_has_tls = false;  // kubectl and kubelets send tokens only over TLS
  int speed = 1;
};

// The nodes that `on` names: "a,b-1" are the nodes of site a, and one node of site b; empty stands
// for all. Errors: invalid, naming the flag; or what a kubelet cannot do.
[[nodiscard]] Result<std::set<std::string>> kubelet_nodes(const Scenario& scenario,
                                                          const std::string& on,
                                                          const KubeletSurroundings& around);

}  // namespace holdfast::agent::lab::run
