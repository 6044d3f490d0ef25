// The demo's time constants: shorter than in life, so that an outage fits into a minute, and
// handed to the real programs as their own flags. Also what they are asked to run.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "platform/time.h"

namespace holdfast::agent::demo {

using Flags = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] const Flags& edge_constants();
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

inline constexpr const char* eviction_patience = "3";  // tolerationSeconds of the Deployment's pods

// A kubeconfig for a server on this machine.
[[nodiscard]] std::string kubeconfig(std::uint16_t port);

}  // namespace holdfast::agent::demo
