// A cluster whose pods holdfast-cloud schedules, in virtual time. There are no kubelets: the test
// reports that pods run, and removes those that were deleted.

#pragma once

#include <boost/json/object.hpp>

#include "test/unit/agent/cloud/cluster.h"

namespace holdfast::agent {

class SchedulerFixture {
 public:
  // Creates the priority classes "high" (1000) and "middle" (500).
  SchedulerFixture();

  [[nodiscard]] CloudSettings settings() const;
  void start() { start(settings()); }
  void start(const CloudSettings& settings);

  // Adds a node that is Ready and has no taints, with `cores` CPUs, 8 GiB and room for 110 pods.
  void add_node(const std::string& name, const std::string& cores = "4");
  // Adds a pod that requests `cpu`. `rest` contains further members of its spec as JSON:
  // R"("nodeName":"a")"; `labels` those of its labels.
  void add_pod(const std::string& name, const std::string& cpu, const std::string& rest = "",
               const std::string& labels = "");
  // Reports that the pod is running and Ready, in place of its kubelet.
  void run_pod(const std::string& pod);
  void add_budget(const std::string& name, const std::string& selector, int allowed);
  // Removes the pods that are being deleted, one after another, in place of their kubelets.
  void finish_deleted();
  // Runs until `done` returns true; false after a minute.
  [[nodiscard]] bool until(const std::function<bool()>& done) {
    return cluster.time.run_until(1min, done);
  }

  [[nodiscard]] sync::Pod pod(const std::string& name);
  [[nodiscard]] bool exists(const std::string& name);
  [[nodiscard]] std::string node_of(const std::string& name) { return pod(name).spec.node_name; }
  [[nodiscard]] bool is_bound(const std::string& name) { return !node_of(name).empty(); }
  // A condition of the pod, "False Unschedulable: 0/1 nodes ..."; "" if it does not have it.
  [[nodiscard]] std::string condition(const std::string& pod, const std::string& type);
  // The events of the pod, one per line: "Warning FailedScheduling Scheduling: 0/1 nodes ... x2".
  [[nodiscard]] std::string events(const std::string& pod);
  [[nodiscard]] std::string metrics();
  [[nodiscard]] bool has_metric(const std::string& line);
  [[nodiscard]] std::size_t asked(const std::string& start) const {
    return Cluster::count(cluster.proxy, start);
  }
  [[nodiscard]] const sync::schedule::ClusterState& cluster_state() {
    const auto& state = (*replica)->scheduler()->machine().state();
    state.check_invariants();
    return state;
  }

  Cluster cluster;
  std::unique_ptr<Replica> replica;

  static inline const std::string pods = "/api/v1/namespaces/default/pods";
  static inline const std::string merge = "application/merge-patch+json";
  static inline const std::string strategic = "application/strategic-merge-patch+json";
};

// A scheduler extender on loopback with scripted answers.
class FakeExtender {
 public:
  explicit FakeExtender(test::VirtualTime& time);
  ~FakeExtender();
  FakeExtender(const FakeExtender&) = delete;
  FakeExtender& operator=(const FakeExtender&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // The answers by verb. A verb without an answer gets 404; with "hang" no answer ever comes.
  std::map<std::string, std::string> answers;
  std::vector<std::string> asked;  // the verbs of the requests, in order

 private:
  asio::awaitable<http::Response> answer(const http::Request& request);

  test::VirtualTime& time_;
  loop::Event never_;
  std::uint16_t port_ = 0;
  std::unique_ptr<http::Server> server_;
};

}  // namespace holdfast::agent
