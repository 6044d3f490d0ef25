// The processes of a node's pods, as holdfast-node has recorded them.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/proc/identity.h"

namespace holdfast::agent::lab::cluster {

// The latest attempt to run a container.
struct ContainerProcess {
  std::string pod_uid;
  std::string container;
  int attempt = 0;
  // Of holdfast-node's containers only; the process leads the container's process group.
  proc::ProcessIdentity shim;
  proc::ProcessIdentity process;
};

// The containers whose process is alive. `data` is holdfast-node's data directory.
[[nodiscard]] std::vector<ContainerProcess> running_containers(const std::filesystem::path& data);

// Sends SIGKILL to all containers and their shims, as a power loss does.
void kill_containers(const std::filesystem::path& data);

}  // namespace holdfast::agent::lab::cluster
