// Starts and controls the demo's processes: an API server, a cloud controller and three
// agents, with a fault proxy between each agent and the API server.
//
// Threading: the loop's thread only.

#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "agent/client/api_client.h"
#include "agent/lab/cluster/children.h"
#include "agent/lab/cluster/tokens.h"
#include "agent/lab/demo/checks.h"
#include "agent/lab/demo/constants.h"
#include "agent/lab/demo/sites.h"
#include "agent/lab/demo/watchers.h"
#include "agent/lab/faults/fault_proxy.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent::demo {

class DemoProcesses {
 public:
  // `data` is an existing directory for all files. `clock` and `recorder` outlive this.
  DemoProcesses(asio::any_io_executor executor, std::filesystem::path data, DemoSetup setup,
                const Clock& clock, Recorder& recorder);

  // Starts the API server and holdfast-cloud. Errors: naming the program that did not start, and
  // its log.
  asio::awaitable<Status> start_control_plane();
  // Starts the agents with their links cut.
  asio::awaitable<Status> start_agents();
  // Starts holdfast-edge, on the same ports as before if it ran already, and then holdfast-node.
  asio::awaitable<Status> start_agent(std::string node);
  asio::awaitable<Status> post_workloads();
  asio::awaitable<Status> post(std::vector<Manifest> objects);
  // Deletes the objects, as a client does.
  asio::awaitable<Status> remove(std::vector<Manifest> objects);
  asio::awaitable<Status> cordon(std::string node, bool on);
  // The node's allocatable cpu, in thousandths of a core.
  asio::awaitable<Result<std::int64_t>> milli_cpu(std::string node);
  // Sets OpenYurt's autonomy annotation.
  asio::awaitable<Status> make_autonomous(std::string node);

  // Stops the agents and deletes their Nodes.
  asio::awaitable<Status> remove_agents();
  asio::awaitable<Status> open_sites() {
    return sites_.open({server_port_, tokens_.admin}, setup_);
  }
  [[nodiscard]] Sites& sites() { return sites_; }

  void cut(const std::string& node);
  void restore(const std::string& node);
  // Kills holdfast-edge and holdfast-node of a node with SIGKILL; its pods keep running.
  void kill_agent(const std::string& node);

  // The memory of the node's holdfast-edge (PSS) in KiB. Errors: as fs::read_all(); not_found.
  [[nodiscard]] Result<std::int64_t> memory(const std::string& node) const;
  // Deletes the workloads, as a client does.
  asio::awaitable<Status> delete_workloads();

  // Starts all watchers; they run until stop_watching().
  void watch();
  asio::awaitable<void> stop_watching();
  // Ends all processes. Returns the pids of those that could not be ended.
  asio::awaitable<std::vector<int>> end();
  // After end(): the programs that ended abnormally.
  [[nodiscard]] const std::vector<std::string>& abnormal_exits() const {
    return children_.abnormal_exits();
  }

  [[nodiscard]] const AgentEndpoints& endpoints(const std::string& node) const {
    return endpoints_.at(node);
  }

 private:
  [[nodiscard]] Status start_node_agent(const AgentEndpoints& endpoints);
  [[nodiscard]] bool is_cut(const std::string& node) const;
  asio::awaitable<Result<std::uint16_t>> port_of(std::string child, std::string message,
                                                 std::string field);

  asio::any_io_executor executor_;
  std::filesystem::path data_;
  DemoSetup setup_;
  lab::cluster::Tokens tokens_;
  const Clock& clock_;
  Recorder& recorder_;
  lab::cluster::Children children_;
  std::uint16_t server_port_ = 0;
  std::unique_ptr<agent::ApiClient> client_;
  std::map<std::string, std::unique_ptr<agent::faults::FaultProxy>> links_;
  std::map<std::string, AgentEndpoints> endpoints_;
  bool first_contact_ = false;  // a link has been open at least once
  Sites sites_;
  loop::Tasks watch_tasks_;
};

}  // namespace holdfast::agent::demo
