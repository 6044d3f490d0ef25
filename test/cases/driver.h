// Runs the steps of one lifecycle case in one variant: advances the time, reports changes of the
// simulated API server to the rules, and performs the effects that they return.

#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "sync/lifecycle/fleet.h"
#include "sync/lifecycle/pod_index.h"
#include "sync/lifecycle/taint_eviction.h"
#include "test/cases/calls.h"
#include "test/cases/effect_performer.h"
#include "test/cases/simulated_api_server.h"

namespace holdfast::cases {

class Driver {
 public:
  // `epoch` is the wall time of second 0 of the case. With `watched`, the rules of taint eviction
  // run as well, and every change is delivered at once; without it, changes are delivered before
  // each `run` step.
  Driver(const sync::lifecycle::Options& options, const json::object& config, WallTime epoch,
         bool watched);

  // Executes one step. Throws Malformed if a part of it is unknown or impossible.
  void step(const json::value& step);

  // The result of the step if it was a `call`; else nothing.
  [[nodiscard]] const std::optional<json::value>& result() const { return result_; }
  [[nodiscard]] const SimulatedApiServer& server() const { return server_; }
  [[nodiscard]] const EffectPerformer& performer() const { return performer_; }
  [[nodiscard]] const sync::lifecycle::Fleet& fleet() const { return *fleet_; }
  [[nodiscard]] const sync::lifecycle::TaintEviction& eviction() const { return *eviction_; }
  // Converts to seconds since the start of the case.
  [[nodiscard]] static double seconds(MonoTime time);

 private:
  void perform_step(const json::object& step);
  void advance(MonoTime to);
  void set_now(MonoTime now);
  void change(const json::object& step);
  void run(const json::object& step);
  void restart();

  void deliver();
  void deliver(const Change& change);
  void deliver_node(const Change& change);
  void deliver_pod(const Change& change);
  void deliver_lease(const Change& change);

  void run_node_worker(const std::string& node, bool labels);
  void run_pod_worker(const json::object& args);
  void perform(const sync::lifecycle::Intents& intents);
  void perform(const sync::lifecycle::Effects& effects);
  void perform_one(const sync::lifecycle::UpdateNodeStatus& update);
  void perform_one(const sync::lifecycle::PatchTaints& patch);
  void perform_one(const sync::lifecycle::RecordEvent& event);
  void perform_one(const sync::lifecycle::MarkPods& marking);
  void perform_one(const sync::lifecycle::EvictPods& eviction);
  void perform_one(const sync::lifecycle::WithholdEvictions& /*intent*/) {}
  sync::lifecycle::Outcome mark_pods(const std::string& node);
  sync::lifecycle::Outcome mark_pod(const sync::lifecycle::MarkPodNotReady& marking);
  sync::lifecycle::Outcome evict_pods(const std::string& node, std::vector<std::string> pods);
  [[nodiscard]] bool of_daemon_set(const sync::lifecycle::PodFacts& pod) const;

  sync::lifecycle::Options options_;
  WallTime epoch_;
  bool watched_;
  SimulatedApiServer server_;
  EffectPerformer performer_;
  Calls calls_;
  std::unique_ptr<sync::lifecycle::Fleet> fleet_;
  std::unique_ptr<sync::lifecycle::TaintEviction> eviction_;
  sync::lifecycle::PodIndex pods_;
  std::deque<sync::lifecycle::Intent> intents_;
  MonoTime now_{};
  WallTime wall_{};
  std::optional<json::value> result_;
};

}  // namespace holdfast::cases
