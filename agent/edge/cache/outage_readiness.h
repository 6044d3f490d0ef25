// Determines which pods of the node would start after a reboot without the cloud, from what is
// cached now. Used by /v1/ready, metrics and holdfastctl. The rules are in
// sync/autonomy/readiness.h.
//
// Threading: the loop's thread only.

#pragma once

#include <array>
#include <optional>

#include "agent/edge/cache/scope_table.h"
#include "agent/edge/cache/stored_answers.h"
#include "sync/autonomy/readiness.h"

namespace holdfast::agent {

// The readiness of all pods of the node.
struct NodeReadiness {
  std::string node_name;
  std::vector<sync::autonomy::PodReadiness> pods = {};
};
// Errors: unavailable (the node's list of pods was never received), those of reading pods and
// stored tokens.
[[nodiscard]] Result<NodeReadiness> check_node_readiness(ScopeTable& scopes, StoredAnswers& answers,
                                                         WallTime now);

// {"known":true,"node":"n","checkedAt":TIME,"pods":[{"namespace":"a","name":"p","ready":false,
// "until":TIME,"imagesChecked":true,"reasons":[{"reason":"secret","text":"..."}]}]}, or
// {"known":false,"why":"..."}.
[[nodiscard]] sync::json::object readiness_json(const Result<NodeReadiness>& readiness,
                                                WallTime now);

class OutageReadiness {
 public:
  // Both must outlive this.
  OutageReadiness(ScopeTable& scopes, StoredAnswers& answers, const Clock& clock)
      : scopes_(scopes), answers_(answers), clock_(clock) {}

  // readiness_json() of the node's pods now.
  [[nodiscard]] sync::json::object document();

  // Number of pods that would start, that would not, and that each obstacle keeps from starting. A
  // pod may have several obstacles.
  struct Counts {
    bool known = false;
    std::size_t ready = 0;
    std::size_t not_ready = 0;
    std::array<std::size_t, sync::autonomy::obstacles> by_obstacle = {};
  };
  // The counts, at most a minute old: metrics are read often, and counting takes a few
  // milliseconds.
  [[nodiscard]] const Counts& counts();

 private:
  ScopeTable& scopes_;
  StoredAnswers& answers_;
  const Clock& clock_;
  Counts counts_;
  std::optional<MonoTime> counted_at_;
};

}  // namespace holdfast::agent
