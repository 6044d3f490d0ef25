// Writes down what happens in a simulation, for its result.

#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "agent/lab/result/result.h"
#include "agent/lab/sim/kubelet.h"
#include "agent/lab/sim/rest.h"
#include "agent/lab/sim/server.h"
#include "agent/lab/sim/workloads.h"

namespace holdfast::agent::lab::sim {

class Recorder final : public NodeObserver {
 public:
  Recorder(Engine& engine, Server& server, const Workloads& workloads);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() override = default;

  void add_node(const std::string& name, const std::string& site);
  void link_is(const std::string& node, std::string_view state);   // "" ends the span
  void power_is(const std::string& node, std::string_view state);  // likewise
  void withheld_is(const std::string& node, std::string_view reason);
  void set_bytes(const std::string& node, std::uint64_t bytes) {
    result_.nodes[node_at_.at(node)].bytes = bytes;
  }
  void fault(FaultMark mark) { result_.faults.push_back(std::move(mark)); }

  void container_is(const std::string& node, const std::string& pod_uid, std::string_view state,
                    int restarts) override;
  void pod_stops(const std::string& node, const std::string& pod_uid,
                 std::string_view why) override;

  // Ends all spans and adds the figures of the traffic. Call it once, at the end.
  [[nodiscard]] RunResult finish(const Traffic& traffic, const std::vector<Workload>& workloads);
  // Ready pods of a workload on the nodes, now.
  [[nodiscard]] int ready(const std::string& workload) const;

 private:
  void observe(const Change& change);
  void observe_node(const Change& change);
  void observe_pod(const Change& change);
  void trace_pod(const Change& change);
  // Empty if no span is open.
  [[nodiscard]] static std::string_view last_state(const std::vector<Span>& spans);
  void change_ready(const std::string& workload, int by);
  void open(std::vector<Span>& spans, std::string_view state);
  void close_all(std::vector<Span>& spans) const;
  void add_traffic(const Traffic& traffic);

  static constexpr Duration open_end = Duration::max();

  Engine& engine_;
  Server& server_;
  const Workloads& workloads_;
  RunResult result_;
  std::unordered_map<std::string, std::size_t> node_at_;  // by name
  std::unordered_map<std::string, std::size_t> pod_at_;   // by uid
  std::map<std::string, int> ready_;                      // pods by workload
  std::map<std::string, std::vector<Span>> shortfall_;
  std::map<std::string, bool> was_complete_;
  std::vector<double> evictions_;  // per minute
};

}  // namespace holdfast::agent::lab::sim
