// The settings of an agent whose clients are in the same process.

#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "agent/edge/options/options.h"

namespace holdfast::test {

// Sets where the agent of `node` finds its cluster and its data, and that this process may use it.
inline void set_up(agent::EdgeOptions& options, const std::string& node,
                   const std::string& kubeconfig, const std::filesystem::path& data) {
  options.node_name = node;
  options.identity.kubeconfig = kubeconfig;
  options.data_dir = data.string();
  options.listen = "127.0.0.1:0";
  options.admin_listen = "127.0.0.1:0";
  options.allowed_uids = {std::to_string(::getuid())};
}

}  // namespace holdfast::test
