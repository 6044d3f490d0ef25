// A node without processes for the tests of PodRuntime: it performs the runtime's actions in memory
// and records them as lines of text.

#pragma once

#include "sync/runtime/pod_runtime.h"
#include "test/unit/sync/runtime/pods.h"

namespace holdfast::sync::runtime::test {

using Lines = std::vector<std::string>;

class FakeNode {
 public:
  FakeNode() : runtime_(RuntimeConfig{.node = {.node_name = "edge-a"}}) {}

  // Lets `after` pass, then steps until there are no more actions. Returns all actions except
  // RecordPod, and checks that each pod is recorded before it is started.
  Lines step(Duration after = {});

  // Sets the pods that the API server has.
  void list(std::vector<std::shared_ptr<Pod>> pods);
  void forget_list() { desired_ = NeverReceived{}; }

  // Ends the last attempt of a container.
  void ends(const std::string& uid, const std::string& container, ContainerExit exit);
  void ends(const std::string& uid, int code = 0) {
    ends(uid, "c", {ContainerExit::Kind::code, code, ""});
  }

  // Restarts the agent: only records and observations are left.
  void restart_agent();

  // The time until the runtime's deadline; nullopt: never.
  [[nodiscard]] std::optional<Duration> due() const;

  FakeConfigs configs;
  bool starts_hang = false;  // new attempts stay `created`
  std::map<std::string, PodRecord> records;
  std::map<std::string, PodStatus> reported;  // the last status, by uid
  ObservedPods observed;

 private:
  void perform(const RuntimeAction& action);
  void perform(const StartContainer& start);

  MonoTime now_ = MonoTime(std::chrono::hours(1));
  WallTime wall_ = parse_rfc3339("2026-11-21T10:00:00Z").value();
  DesiredPods desired_ = NeverReceived{};
  PodRuntime runtime_;
};

}  // namespace holdfast::sync::runtime::test
