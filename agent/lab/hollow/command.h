// The command `holdfast-lab nodes`: its flags, and the process that runs hollow nodes.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "agent/lab/hollow/plan.h"
#include "platform/config/options.h"
#include "platform/loop/program.h"
#include "platform/result.h"

namespace holdfast::agent::hollow {

struct NodesSettings {
  std::vector<std::string> words = {};  // [silence|resume|list, names...]; empty: run the nodes
  std::string kubeconfig;
  std::string context;
  int count = 10;
  std::string name_prefix = "hollow-";
  std::string zone = "zone";
  int zones = 1;
  std::vector<std::string> labels = {};  // "key=value"
  std::vector<std::string> taints = {};  // "key=value:Effect"
  int lease_seconds = 40;
  double qps = 2000;
  bool delete_on_exit = false;
  std::string control = "127.0.0.1:7444";
  std::string selector;
  Plan plan;  // the flags that need no conversion
};

// Adds the flags. They set the fields of `settings`, which outlives `options`.
void add_nodes_options(config::Options& options, NodesSettings& settings);

// The plan that the flags describe. Errors: invalid, naming the flag.
[[nodiscard]] Result<Plan> plan_of(const NodesSettings& settings);

// Runs the nodes until `stop` is requested, or sends a command to a running process. Errors: those
// of plan_of(), the kubeconfig, the control listener and the API server.
[[nodiscard]] boost::asio::awaitable<Status> run_nodes(NodesSettings settings, loop::Stop& stop,
                                                       const Clock& clock);

}  // namespace holdfast::agent::hollow
