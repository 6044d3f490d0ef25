// The settings of holdfast-node. Flags and the YAML file have the same names.

#pragma once

#include <chrono>
#include <string>

#include "agent/client/kubeconfig.h"
#include "platform/config/options.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent::node {

struct NodeOptions {
  std::string node_name;  // required
  std::string data_dir = "/var/lib/holdfast-node";
  std::string server;      // URL of the edge agent's proxy; empty: default_server or the kubeconfig
  std::string kubeconfig;  // in place of `server`
  std::string runtime = "process";
  std::string node_labels;  // "a=b,c=d"
  std::string log_level = "info";
  Duration status_interval = std::chrono::seconds(10);       // the kubelet's default
  Duration lease_duration = std::chrono::seconds(40);        // the same
  Duration lease_renew_interval = std::chrono::seconds(10);  // the same
};

// The edge agent's default --listen.
inline constexpr std::string_view default_server = "http://127.0.0.1:10261";

void add_options(config::Options& options, NodeOptions& settings);

// Errors: invalid, naming the flag.
[[nodiscard]] Status check(const NodeOptions& settings);

// Makes every path in the settings absolute. Called once, before anything uses them: containers and
// their shims have other working directories than this program.
// Errors: unavailable (there is no working directory).
[[nodiscard]] Status make_paths_absolute(NodeOptions& settings);

// The API that the node is a client of. Errors: as read_kubeconfig() and parse_server_url(), naming
// the flag.
[[nodiscard]] Result<ClusterAccess> api_access(const NodeOptions& settings);

}  // namespace holdfast::agent::node
