// The stage: an API server, a cloud controller and three agents as real processes on this machine,
// and between each agent and the API server a proxy that can break the link.
//
// Threading: the loop's thread only.

#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "agent/client/api_client.h"
#include "agent/lab/demo/checks.h"
#include "agent/lab/demo/child.h"
#include "agent/lab/demo/constants.h"
#include "agent/lab/demo/sites.h"
#include "agent/lab/demo/tokens.h"
#include "agent/lab/demo/watchers.h"
#include "agent/lab/faults/fault_proxy.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent::demo {

class Stage {
 public:
  // `data` is an existing directory for everything that is written.
  Stage(asio::any_io_executor executor, std::filesystem::path data, Cast cast, const Clock& clock,
        Recorder& recorder);

  // The control plane, and the workloads' objects. Errors: what did not come up, and its log.
  asio::awaitable<Status> start_control_plane();
  // The agents, behind links that are cut.
  asio::awaitable<Status> start_agents();
  // holdfast-edge, on the ports that it had before, if it had any, and then holdfast-node.
  asio::awaitable<Status> start_agent(std::string node);
  asio::awaitable<Status> post_workloads();
  asio::awaitable<Status> post(std::vector<Manifest> objects);
  // As a client would have them go.
  asio::awaitable<Status> remove(std::vector<Manifest> objects);
  asio::awaitable<Status> cordon(std::string node, bool on);
  // What the node offers, in thousandths of a core.
  asio::awaitable<Result<std::int64_t>> milli_cpu(std::string node);
  asio::awaitable<Status> make_autonomous(std::string node);

  // Ends the agents in order, and takes their nodes out of the cluster.
  asio::awaitable<Status> dismiss_agents();
  asio::awaitable<Status> open_sites() { return sites_.open({server_port_, tokens_.admin}, cast_); }
  [[nodiscard]] Sites& sites() { return sites_; }

  void cut(const std::string& node);
  void restore(const std::string& node);
  // Kills holdfast-edge and holdfast-node of a node, as a power cut does; its pods run on.
  void kill_agent(const std::string& node);

  // Kilobytes of memory that are the agent's own (PSS). Errors: as fs::read_all().
  [[nodiscard]] Result<std::int64_t> memory(const std::string& node) const;
  // The workloads go, as a client would have them go.
  asio::awaitable<Status> delete_workloads();

  // Looks at everything, until stop().
  void watch();
  asio::awaitable<void> stop_watching();
  // Ends all processes; what could not be ended, by pid.
  asio::awaitable<std::vector<int>> end();
  // Once ended: the programs that did not do so in order.
  [[nodiscard]] const std::vector<std::string>& bad_ends() const { return children_.bad_ends(); }

  [[nodiscard]] const Station& station(const std::string& node) const { return stations_.at(node); }

 private:
  [[nodiscard]] Status start_node_agent(const Station& station);
  [[nodiscard]] bool is_cut(const std::string& node) const;
  asio::awaitable<Result<std::uint16_t>> port_of(std::string child, std::string message,
                                                 std::string field);

  asio::any_io_executor executor_;
  std::filesystem::path data_;
  Cast cast_;
  Tokens tokens_;
  const Clock& clock_;
  Recorder& recorder_;
  Children children_;
  std::uint16_t server_port_ = 0;
  std::unique_ptr<agent::ApiClient> client_;
  std::map<std::string, std::unique_ptr<agent::FaultProxy>> links_;
  std::map<std::string, Station> stations_;
  bool first_contact_ = false;  // some link was open once
  Sites sites_;
  loop::Tasks eyes_;
};

}  // namespace holdfast::agent::demo
