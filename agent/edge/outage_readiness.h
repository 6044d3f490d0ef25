// Tells which pods of the node would come back after a reboot without the cloud, by what is cached
// now: for /v1/ready, metrics and holdfastctl. The rules are sync/autonomy/readiness.h's.
//
// Threading: the loop's thread only.

#pragma once

#include <array>
#include <optional>

#include "agent/edge/scopes.h"
#include "sync/autonomy/readiness.h"

namespace holdfast::agent {

// All pods of the node. Errors: unavailable (the node's list of pods was never received).
struct NodeReadiness {
  std::string node_name;
  std::vector<sync::PodReadiness> pods = {};
};
[[nodiscard]] Result<NodeReadiness> judge_node(Scopes& scopes, WallTime now);

// {"known":true,"node":"n","checkedAt":TIME,"pods":[{"namespace":"a","name":"p","ready":false,
// "until":TIME,"imagesChecked":true,"reasons":[{"reason":"secret","text":"..."}]}]}, or
// {"known":false,"why":"..."}.
[[nodiscard]] sync::json::object readiness_json(const Result<NodeReadiness>& readiness,
                                                WallTime now);

class OutageReadiness {
 public:
  // Both outlive this.
  OutageReadiness(Scopes& scopes, const Clock& clock) : scopes_(scopes), clock_(clock) {}

  [[nodiscard]] sync::json::object document();

  // How many pods each obstacle keeps down, and how many would come back.
  struct Counts {
    bool known = false;
    std::size_t ready = 0;
    std::size_t not_ready = 0;
    std::array<std::size_t, sync::obstacles> by_obstacle = {};
  };
  // At most a minute old: metrics are read often, and judging costs a few milliseconds.
  [[nodiscard]] const Counts& counts();

 private:
  Scopes& scopes_;
  const Clock& clock_;
  Counts counts_;
  std::optional<MonoTime> counted_at_;
};

}  // namespace holdfast::agent
