// A kubelet and its container runtime on a node of the lab: the programs of Kubernetes themselves,
// in mounts and control groups of their own and in the node's network namespace.
//
// Which containers run is read from their control groups; their names and how often they were
// restarted from the kubelet, at its own port. So a result depends neither on the API server nor on
// a kubelet that answers all the time.
//
// Threading: the loop's thread only.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/client/api_client.h"
#include "agent/lab/cluster/children.h"
#include "agent/lab/cluster/known_containers.h"
#include "agent/lab/cluster/kubelet_files.h"
#include "agent/lab/cluster/node_groups.h"
#include "agent/lab/cluster/pod_processes.h"
#include "agent/lab/faults/fault_proxy.h"
#include "platform/net/network_namespace.h"
#include "sync/model/types.h"

namespace holdfast::agent::lab::cluster {

struct KubeletSettings {
  std::string node;
  std::filesystem::path folder;  // of the node; it exists
  KubeletPrograms programs;
  KubeletFiles::Choices choices;
  std::string kubeconfig;  // of the kubelet; empty: that of a kubelet behind holdfast-edge
  std::shared_ptr<const net::NetworkNamespace> space;
  int number = 0;  // of the node: its address is 10.99.0.NUMBER + 1
};

class KubeletMachine {
 public:
  // Writes the files. Errors: those of KubeletFiles::write() and of listeners. `children` and
  // `clock` outlive this.
  [[nodiscard]] static Result<std::unique_ptr<KubeletMachine>> make(
      const asio::any_io_executor& executor, KubeletSettings settings, Children& children,
      const Clock& clock);

  // Starts containerd, after a power loss as on a machine that boots. The first time it imports the
  // images. Does nothing if it runs. Errors: as proc::spawn(); timeout and unavailable, with the
  // log's name.
  asio::awaitable<Status> start_runtime();
  // Starts the kubelet as the child `name`. Errors: as proc::spawn().
  [[nodiscard]] Status start_kubelet(const std::string& name);
  // Ends all processes, pods included, as a power loss does.
  void power_off();

  // Reads the kubelet's pods again and again, until it is cancelled.
  asio::awaitable<void> follow();
  // The containers that have a process.
  [[nodiscard]] std::vector<ContainerProcess> containers() const;
  // Reads the kubelet's pods now, with the kubelet's own view of their status. Errors: those of the
  // request.
  asio::awaitable<Result<std::vector<sync::Pod>>> read_pods();

  // Removes the control groups. Call power_off() before.
  asio::awaitable<void> stop();

 private:
  KubeletMachine(KubeletSettings settings, Children& children, const Clock& clock)
      : settings_(std::move(settings)),
        files_{settings_.folder},
        groups_(settings_.node),
        children_(children),
        clock_(clock) {}

  [[nodiscard]] std::string machine_child() const { return "machine." + settings_.node; }
  [[nodiscard]] std::string runtime_child() const { return "containerd." + settings_.node; }
  [[nodiscard]] std::string import_child() const { return "images." + settings_.node; }
  [[nodiscard]] Status open(const asio::any_io_executor& executor);
  asio::awaitable<Status> boot();
  asio::awaitable<Status> import_images();
  // Starts a program of the node.
  [[nodiscard]] Status enter(const std::string& child, std::vector<std::string> argv);

  KubeletSettings settings_;
  KubeletFiles files_;
  NodeGroups groups_;
  Children& children_;
  const Clock& clock_;
  std::unique_ptr<faults::FaultProxy> way_in_;  // to the kubelet's port
  std::unique_ptr<ApiClient> client_;
  bool has_images_ = false;
  KnownContainers known_;
};

}  // namespace holdfast::agent::lab::cluster
