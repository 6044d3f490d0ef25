// A cluster of real processes on this machine for the sites of a scenario: a control plane, and for
// each node holdfast-edge and holdfast-node or a kubelet behind a link. It performs a scenario's
// events.
//
// Times are real: a scenario that is played faster has been scaled before. Threading: the loop's
// thread only.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/lab/cluster/api_actions.h"
#include "agent/lab/cluster/control_plane.h"
#include "agent/lab/cluster/lab_node.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent::lab::cluster {

// What the cluster tells about itself. Every function may be empty.
struct ClusterReports {
  // The node's link or power has changed.
  std::function<void(const LabNode&)> node_changed = {};
  // Something that went on in the background failed: a restart, a drain.
  std::function<void(const std::string&)> problem = {};
};

struct ClusterSettings {
  std::filesystem::path data;  // an existing directory for data and logs
  std::filesystem::path bin;   // of Holdfast's programs; empty: that of this program
  std::vector<Site> sites;
  std::vector<Workload> workloads;  // those that events may name
  Flags cloud;                      // flags of the programs, besides those that the lab sets
  Flags edge;
  Flags node;
  // A folder with etcd, kube-apiserver and kube-controller-manager; empty: the lab's API server.
  std::filesystem::path kubernetes = {};
  // A kubelet runs the pods of these nodes, in place of holdfast-node; needs `namespaces`.
  std::optional<KubeletPrograms> kubelet = {};
  std::set<std::string> kubelet_nodes = {};
  Duration kubelet_lease = std::chrono::seconds(40);  // the duration of their leases
  // A cluster of others in place of an API server and a holdfast-cloud of its own. The workloads
  // are called as they are there.
  std::optional<guest::Host> host = {};
  bool tls = false;             // the lab's API server speaks TLS
  bool cloud_schedules = true;  // false: the API server's built-in scheduler does
  bool namespaces = false;      // each node in a network namespace of its own; needs root
  std::uint64_t seed = 0;       // of what links draw by chance
  Duration drain_retry = std::chrono::seconds(5);
};

struct ClusterLimits {
  std::size_t nodes = 100;  // each one is two processes, and each of its pods two more
  std::size_t kubelets = 4;
};

// The names of a site's nodes: "a-1", "a-2".
[[nodiscard]] std::vector<std::string> nodes_of(const Site& site);

// Whether this process may create network namespaces.
[[nodiscard]] bool can_create_namespaces();

class Cluster {
 public:
  // `clock` outlives this.
  Cluster(const asio::any_io_executor& executor, ClusterSettings settings, const Clock& clock,
          ClusterReports reports = {});
  // Call stop() first.
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Starts the control plane, creates the Node objects with the labels, annotations and taints of
  // their sites, and starts all nodes. Returns when their processes run; they are Ready a little
  // later. Errors: those of the processes, with the log's name; those of the API server; invalid
  // (too many nodes).
  asio::awaitable<Status> start();

  // Begins an event. What takes time (restarts, requests to the API server, flaps) goes on in the
  // background, and its failures are reported as problems. Errors: invalid for an action that
  // refusal_of() refuses; not_found (no such workload); those of Link.
  [[nodiscard]] Status perform(const ScenarioEvent& event);
  // Ends an event that has a duration, when it is over. A flap ends by itself. Errors: as above.
  [[nodiscard]] Status end(const ScenarioEvent& event);

  // Ends all processes, pods included, and removes the namespaces. Returns the pids of those that
  // could not be ended.
  asio::awaitable<std::vector<int>> stop();

  [[nodiscard]] const std::vector<std::unique_ptr<LabNode>>& nodes() const { return nodes_; }
  // nullptr if there is none of that name in the scenario.
  [[nodiscard]] LabNode* find(const std::string& name) const;
  // The nodes of a target: of a site, one node, or all. None for any other name.
  [[nodiscard]] std::vector<LabNode*> targets(const Target& target) const;
  [[nodiscard]] ControlPlane& control_plane() { return *control_plane_; }
  // An administrator's client.
  [[nodiscard]] ApiClient& client() { return control_plane_->client(); }
  [[nodiscard]] Children& children() { return children_; }

 private:
  asio::awaitable<Status> start_node(Site site, std::string name);
  [[nodiscard]] ApiActions actions();
  void in_background(std::string what, asio::awaitable<Status> task);
  asio::awaitable<void> report_failure(std::string what, asio::awaitable<Status> task);
  asio::awaitable<void> reap_children();
  void changed(const LabNode& node) const;

  [[nodiscard]] Status begin_one(const ScenarioEvent& event, const Cut& action);
  [[nodiscard]] Status begin_one(const ScenarioEvent& event, const Heal& action);
  [[nodiscard]] Status begin_one(const ScenarioEvent& event, const Flap& action);
  [[nodiscard]] Status begin_one(const ScenarioEvent& event, const Degrade& action);
  [[nodiscard]] Status begin_one(const ScenarioEvent& event, const PowerLoss& action);
  [[nodiscard]] Status begin_one(const ScenarioEvent& event, const Kill& action);
  [[nodiscard]] Status begin_one(const ScenarioEvent& event, const Pause& action);
  [[nodiscard]] Status begin_one(const ScenarioEvent& event, const Drain& action);
  [[nodiscard]] Status begin_one(const ScenarioEvent& event, const Uncordon& action);
  [[nodiscard]] Status begin_one(const ScenarioEvent& event, const Rollout& action);
  [[nodiscard]] Status begin_one(const ScenarioEvent& event, const Scale& action);
  [[nodiscard]] Status begin_one(const ScenarioEvent& event, const DeletePods& action);
  [[nodiscard]] Status begin_one(const ScenarioEvent& event, const ApiServerFault& action);
  // Refused before.
  template <class T>
  [[nodiscard]] Status begin_one(const ScenarioEvent&, const T&) {
    return fail(Errc::invalid, "cannot be played");
  }
  [[nodiscard]] Status end_one(const Cut& action);
  [[nodiscard]] Status end_one(const Degrade& action);
  [[nodiscard]] Status end_one(const PowerLoss& action);
  [[nodiscard]] Status end_one(const Kill& action);
  [[nodiscard]] Status end_one(const Pause& action);
  [[nodiscard]] Status end_one(const ApiServerFault& action);
  // What happens once, or ends by itself.
  template <class T>
  [[nodiscard]] Status end_one(const T&) {
    return {};
  }

  [[nodiscard]] Status set_cut(const Cut& action, bool cut);
  [[nodiscard]] Status set_quality(const Target& target, const LinkQuality& up,
                                   const LinkQuality& down, bool is_usual);
  asio::awaitable<Status> flap(Flap action, MonoTime until);
  asio::awaitable<Status> play_trace(Site site);
  asio::awaitable<Status> restart_soon(Kill action);
  [[nodiscard]] const Workload* workload(const std::string& name) const;
  asio::awaitable<Status> drain(std::string node);
  asio::awaitable<Status> uncordon(std::string node);
  asio::awaitable<Status> roll_out(Workload workload);
  asio::awaitable<Status> scale(Workload workload, int replicas);
  asio::awaitable<Status> delete_pods(DeletePods action);

  asio::any_io_executor executor_;
  ClusterSettings settings_;
  const Clock& clock_;
  ClusterReports reports_;
  Children children_;
  std::unique_ptr<ControlPlane> control_plane_;
  std::vector<std::unique_ptr<LabNode>> nodes_;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent::lab::cluster
