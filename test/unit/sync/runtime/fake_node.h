// A node without processes for the tests of PodRuntime: it does what the runtime asks for in
// memory, and keeps what was asked as lines of text.

#pragma once

#include "sync/runtime/pod_runtime.h"
#include "test/unit/sync/runtime/pods.h"

namespace holdfast::sync::test {

using Lines = std::vector<std::string>;

class FakeNode {
 public:
  FakeNode() : runtime_(RuntimeConfig{.node = {.node_name = "edge-a"}}) {}

  // Steps until nothing more is asked for. `after` passes first. All but records are returned;
  // those are checked to come before what they are for.
  Lines step(Duration after = {});

  // What the API server has from now on.
  void list(std::vector<std::shared_ptr<Pod>> pods);
  void forget_list() { desired_ = NeverReceived{}; }

  // The last attempt of a container ends.
  void ends(const std::string& uid, const std::string& container, ContainerExit exit);
  void ends(const std::string& uid, int code = 0) {
    ends(uid, "c", {ContainerExit::Kind::code, code, ""});
  }

  // The agent was killed and is back: only records and observations are left.
  void restart_agent();

  // How long until the runtime wants to be called; nothing: never.
  [[nodiscard]] std::optional<Duration> due() const;

  FakeConfigs configs;
  bool starts_hang = false;  // new attempts stay `created`
  std::map<std::string, PodRecord> records;
  std::map<std::string, PodStatus> reported;  // the last one, by uid
  ObservedPods observed;

 private:
  void perform(const RuntimeAction& action);
  void perform(const StartContainer& start);

  MonoTime now_ = MonoTime(std::chrono::hours(1));
  WallTime wall_ = parse_rfc3339("2026-11-21T10:00:00Z").value();
  DesiredPods desired_ = NeverReceived{};
  PodRuntime runtime_;
};

}  // namespace holdfast::sync::test
