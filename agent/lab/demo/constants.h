// The demo's time constants, passed to the real programs as flags, and its workloads. The times are
// shorter than in production, so that an outage fits into a minute.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/cluster/access.h"
#include "agent/lab/demo/checks.h"
#include "platform/time.h"

namespace holdfast::agent::demo {

using lab::cluster::as_arguments;
using lab::cluster::Flags;

[[nodiscard]] const Flags& edge_constants();
[[nodiscard]] const Flags& node_constants();
[[nodiscard]] const Flags& cloud_constants();

// An object to create.
struct Manifest {
  std::string collection;  // "/apis/apps/v1/namespaces/default/deployments"
  std::string name;
  std::string body;
};
// The workloads of the first act: a ConfigMap, a Deployment and a DaemonSet.
[[nodiscard]] std::vector<Manifest> manifests(int replicas);
inline constexpr const char* web_name = "web";  // name of that Deployment

// The objects that fill a node of `milli_cpu` thousandths of a core: a Deployment of two pods that
// request two fifths each, and a pod with a disruption budget that requests one fifth.
[[nodiscard]] std::vector<Manifest> filler_pods(std::int64_t milli_cpu, const DemoSetup& setup);
// A pod with the highest priority that requests three fifths of that node and may run only there.
[[nodiscard]] Manifest important_pod(std::int64_t milli_cpu, const DemoSetup& setup);

inline constexpr const char* eviction_patience = "3";  // tolerationSeconds of the pods of web_name

}  // namespace holdfast::agent::demo
