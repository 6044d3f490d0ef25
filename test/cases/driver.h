// Runs the steps of one case in one variant: feeds the rules, performs what they want, keeps time.

#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "sync/lifecycle/fleet.h"
#include "sync/lifecycle/pod_index.h"
#include "sync/lifecycle/taint_eviction.h"
#include "test/cases/calls.h"
#include "test/cases/hands.h"
#include "test/cases/world.h"

namespace holdfast::cases {

class Driver {
 public:
  // `watched`: every change is delivered at once, as in cases of taint eviction; else the caches
  // are brought up to date whenever something is run.
  Driver(const sync::lifecycle::Options& options, const json::object& config, WallTime epoch,
         bool watched);

  // Errors say what in the case cannot be done.
  [[nodiscard]] Status step(const json::object& step);

  // Of the last `call` step.
  [[nodiscard]] const std::optional<json::value>& result() const { return result_; }
  [[nodiscard]] const World& world() const { return world_; }
  [[nodiscard]] const Hands& hands() const { return hands_; }
  [[nodiscard]] const sync::lifecycle::Fleet& fleet() const { return *fleet_; }
  [[nodiscard]] const sync::lifecycle::TaintEviction& eviction() const { return *eviction_; }
  // Seconds of the case.
  [[nodiscard]] static double seconds(MonoTime time);

 private:
  void advance(MonoTime to);
  void set_now(MonoTime now);
  [[nodiscard]] Status change(const json::object& step);
  [[nodiscard]] Status run(const json::object& step);
  void restart();

  void deliver();
  void deliver(const Change& change);
  void deliver_node(const Change& change);
  void deliver_pod(const Change& change);
  void deliver_lease(const Change& change);

  void run_node_worker(const std::string& node, bool labels);
  void run_pod_worker(const json::object& args);
  void perform(const sync::lifecycle::Wishes& wishes);
  void perform(const sync::lifecycle::Effects& effects);
  void perform_one(const sync::lifecycle::UpdateNodeStatus& update);
  void perform_one(const sync::lifecycle::PatchTaints& patch);
  void perform_one(const sync::lifecycle::RecordEvent& event);
  void perform_one(const sync::lifecycle::MarkPods& marking);
  void perform_one(const sync::lifecycle::EvictPods& eviction);
  void perform_one(const sync::lifecycle::WithholdEvictions& /*wish*/) {}
  sync::lifecycle::Outcome mark_pods(const std::string& node);
  sync::lifecycle::Outcome mark_pod(const sync::lifecycle::MarkPodNotReady& marking);
  sync::lifecycle::Outcome evict_pods(const std::string& node, std::vector<std::string> pods);
  [[nodiscard]] bool of_daemon_set(const sync::lifecycle::PodFacts& pod) const;

  sync::lifecycle::Options options_;
  WallTime epoch_;
  bool watched_;
  World world_;
  Hands hands_;
  Calls calls_;
  std::unique_ptr<sync::lifecycle::Fleet> fleet_;
  std::unique_ptr<sync::lifecycle::TaintEviction> eviction_;
  sync::lifecycle::PodIndex pods_;
  std::deque<sync::lifecycle::Wish> wishes_;
  MonoTime now_{};
  WallTime wall_{};
  std::optional<json::value> result_;
};

}  // namespace holdfast::cases
