// The demo's time constants: shorter than in life, so that an outage fits into a minute, and
// handed to the real programs as their own flags. Also what they are asked to run.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agent/lab/demo/checks.h"
#include "platform/time.h"

namespace holdfast::agent::demo {

using Flags = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] const Flags& edge_constants();
[[nodiscard]] const Flags& node_constants();
[[nodiscard]] const Flags& cloud_constants();

// The same as arguments: {"--lease-duration=4s", ...}.
[[nodiscard]] std::vector<std::string> as_arguments(const Flags& flags);

// Objects to post: where, and the JSON.
struct Manifest {
  std::string collection;  // "/apis/apps/v1/namespaces/default/deployments"
  std::string name;
  std::string body;
};
[[nodiscard]] std::vector<Manifest> manifests(int replicas);
inline constexpr const char* web_name = "web";  // of the Deployment among them

// Fills a node that has so many thousandths of a core: a Deployment of two pods that take two
// fifths each, and a pod under a disruption budget that takes one. And a pod that needs three
// fifths of that very node, and is more important than all others.
[[nodiscard]] std::vector<Manifest> crowd(std::int64_t milli_cpu, const Cast& cast);
[[nodiscard]] Manifest important_pod(std::int64_t milli_cpu, const Cast& cast);

inline constexpr const char* eviction_patience = "3";  // tolerationSeconds of the Deployment's pods

// A kubeconfig for a server on this machine, with this token.
[[nodiscard]] std::string kubeconfig(std::uint16_t port, const std::string& token);

}  // namespace holdfast::agent::demo
