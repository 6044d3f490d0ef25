// A node of the lab's cluster: holdfast-edge and holdfast-node, or a kubelet, as real processes
// behind a link that can be damaged, in a network namespace of their own if possible.
//
// Threading: the loop's thread only.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/lab/cluster/access.h"
#include "agent/lab/cluster/children.h"
#include "agent/lab/cluster/kubelet_machine.h"
#include "agent/lab/cluster/link.h"
#include "agent/lab/cluster/pod_processes.h"
#include "agent/lab/scenario/scenario.h"
#include "platform/net/network_namespace.h"

namespace holdfast::agent::lab::cluster {

struct LabNodeSettings {
  std::string name;
  std::string api_name;  // of the Node; differs in a cluster that others use, too
  Site site;
  std::filesystem::path data;  // an existing directory for all nodes
  Flags edge;                  // of holdfast-edge, besides those that the node sets itself
  Flags node;                  // of holdfast-node
  bool own_namespace = false;
  std::uint64_t seed = 0;    // of what the link draws
  net::HostPort api_server;  // where the link leads
  // The authority of the certificate with which the API server calls kubelets; empty: holdfast-node
  // does not serve the kubelet's API.
  std::filesystem::path kubelet_client_ca;
  // The kubeconfig of this node for a server at this port of its own loopback.
  std::function<std::string(std::uint16_t port)> kubeconfig;
  // A kubelet runs the pods in place of holdfast-node; needs a namespace.
  std::optional<KubeletPrograms> kubelet = {};
  Duration lease_duration = std::chrono::seconds(40);  // of the kubelet
  int number = 1;                                      // among the nodes
};

class LabNode {
 public:
  // Creates the namespace and the link. Errors: those of NetworkNamespace::create() and of the
  // listeners; those of writing files. `children` and `clock` outlive this.
  [[nodiscard]] static Result<std::unique_ptr<LabNode>> make(const asio::any_io_executor& executor,
                                                             LabNodeSettings settings,
                                                             Children& children,
                                                             const Clock& clock);

  // Starts the processes that do not run, as far as power and holds allow: holdfast-edge first.
  // They keep their ports. Errors: as proc::spawn(); timeout and unavailable, with the log's name.
  asio::awaitable<Status> start();
  // Kills a process, and holds it down until release(). Process::kubelet is what runs the pods.
  void kill(Process process);
  void release(Process process) { held_.erase(program_of(process)); }
  // Stops and continues a process: SIGSTOP and SIGCONT.
  void pause(Process process);
  void resume(Process process);
  // Kills all processes and all pods at once. start() does nothing until power_on().
  void power_off();
  void power_on();

  [[nodiscard]] const std::string& name() const { return settings_.name; }
  [[nodiscard]] const std::string& api_name() const { return settings_.api_name; }
  [[nodiscard]] const Site& site() const { return settings_.site; }
  [[nodiscard]] bool has_edge() const { return settings_.site.agent == NodeAgent::holdfast; }
  [[nodiscard]] bool is_powered() const { return powered_; }
  [[nodiscard]] bool has_own_namespace() const { return space_ != nullptr; }
  [[nodiscard]] Link& link() { return *link_; }
  [[nodiscard]] const Link& link() const { return *link_; }
  // A port of this machine at which holdfast-edge's admin endpoint answers; 0 without one.
  [[nodiscard]] std::uint16_t admin_port() const;
  // The node's kubeconfig; its server is the link, in the node's namespace.
  [[nodiscard]] std::filesystem::path kubeconfig() const;
  [[nodiscard]] std::filesystem::path edge_data() const { return folder() / "edge"; }
  [[nodiscard]] std::filesystem::path node_data() const { return folder() / "node"; }
  [[nodiscard]] std::vector<ContainerProcess> containers() const {
    return kubelet_ ? kubelet_->containers() : running_containers(node_data());
  }
  // Null if holdfast-node runs the pods.
  [[nodiscard]] KubeletMachine* kubelet() { return kubelet_.get(); }
  // The names of the node's processes among the children, and of their logs.
  [[nodiscard]] std::string edge_child() const { return "edge." + name(); }
  [[nodiscard]] std::string node_child() const { return "node." + name(); }

  // Ends what a kubelet's node has, at once.
  void end_kubelet();
  asio::awaitable<void> stop();

 private:
  enum class Program : std::uint8_t { edge, node };
  [[nodiscard]] static Program program_of(Process process) {
    return process == Process::edge ? Program::edge : Program::node;
  }
  LabNode(LabNodeSettings settings, Children& children, const Clock& clock)
      : settings_(std::move(settings)), children_(children), clock_(clock) {}

  [[nodiscard]] std::filesystem::path folder() const { return settings_.data / name(); }
  [[nodiscard]] Status open(const asio::any_io_executor& executor);
  [[nodiscard]] bool may_start(Program program) const;
  [[nodiscard]] std::string child_of(Process process) const;
  [[nodiscard]] Status spawn(const std::string& child, const std::string& program, Flags flags);
  asio::awaitable<Status> start_edge();
  asio::awaitable<Status> start_node();
  [[nodiscard]] Status open_kubelet(const asio::any_io_executor& executor);
  asio::awaitable<Result<std::uint16_t>> logged_port(std::string field);

  LabNodeSettings settings_;
  Children& children_;
  const Clock& clock_;
  std::shared_ptr<const net::NetworkNamespace> space_;  // null: it shares ours
  std::unique_ptr<Link> link_;
  std::unique_ptr<faults::FaultProxy> admin_;  // leads into the namespace
  std::unique_ptr<KubeletMachine> kubelet_;
  std::uint16_t edge_port_ = 0;  // 0: not known yet
  std::uint16_t edge_admin_port_ = 0;
  std::uint16_t kubelet_port_ = 0;
  std::set<Program> held_;
  bool powered_ = true;
};

}  // namespace holdfast::agent::lab::cluster
