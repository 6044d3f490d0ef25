// A cluster whose pods a holdfast-cloud schedules, in virtual time; the kubelets only let go.

#pragma once

#include <boost/json/object.hpp>

#include "test/unit/agent/cloud/cluster.h"

namespace holdfast::agent {

class Office {
 public:
  // With the priority classes "high" (1000) and "middle" (500).
  Office();

  [[nodiscard]] CloudSettings settings() const;
  void start() { start(settings()); }
  void start(const CloudSettings& settings);

  // Ready, untainted, with so many cores, 8 GiB and room for 110 pods.
  void add_node(const std::string& name, const std::string& cores = "4");
  // Asks for so much; `rest` is more of its spec: R"("nodeName":"a")".
  void add_pod(const std::string& name, const std::string& cpu, const std::string& rest = "",
               const std::string& labels = "");
  // The kubelet of `pod` says that it runs.
  void run_pod(const std::string& pod);
  void add_budget(const std::string& name, const std::string& selector, int allowed);
  // What a kubelet does last.
  void finish_deleted();
  // Until it is so, for a minute at most.
  [[nodiscard]] bool until(const std::function<bool()>& done) {
    return cluster.time.run_until(1min, done);
  }

  [[nodiscard]] sync::Pod pod(const std::string& name);
  [[nodiscard]] bool exists(const std::string& name);
  [[nodiscard]] std::string node_of(const std::string& name) { return pod(name).spec.node_name; }
  [[nodiscard]] bool is_bound(const std::string& name) { return !node_of(name).empty(); }
  // "False Unschedulable: 0/1 nodes ..." of a condition; empty: it has none.
  [[nodiscard]] std::string condition(const std::string& pod, const std::string& type);
  // "Warning FailedScheduling Scheduling: 0/1 nodes ... x2", one line for each event of the pod.
  [[nodiscard]] std::string events(const std::string& pod);
  [[nodiscard]] std::string metrics();
  [[nodiscard]] bool has_metric(const std::string& line);
  [[nodiscard]] std::size_t asked(const std::string& start) const {
    return Cluster::count(cluster.door, start);
  }
  [[nodiscard]] const sync::schedule::ClusterState& books() {
    return (*replica)->scheduler()->machine().state();
  }

  Cluster cluster;
  std::unique_ptr<Replica> replica;

  static inline const std::string pods = "/api/v1/namespaces/default/pods";
  static inline const std::string merge = "application/merge-patch+json";
  static inline const std::string strategic = "application/strategic-merge-patch+json";
};

// An extender on loopback, which answers what it is told.
class FakeExtender {
 public:
  explicit FakeExtender(test::VirtualTime& time);
  ~FakeExtender();
  FakeExtender(const FakeExtender&) = delete;
  FakeExtender& operator=(const FakeExtender&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  std::map<std::string, std::string> answers;  // by verb; none: 404; "hang": never
  std::vector<std::string> asked;              // verbs

 private:
  asio::awaitable<http::Response> answer(const http::Request& request);

  test::VirtualTime& time_;
  loop::Event never_;
  std::uint16_t port_ = 0;
  std::unique_ptr<http::Server> server_;
};

}  // namespace holdfast::agent
