// The part of extenders in a preemption: external programs that may remove candidate nodes and
// change their victims. Requests and answers are values; extender_wire.h converts them to JSON.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sync/schedule/cluster.h"
#include "sync/schedule/fit_status.h"
#include "sync/schedule/preemption/candidate.h"

namespace holdfast::sync::schedule {

struct ExtenderSettings {
  std::string url;  // also its name in messages
  bool preempts = false;
  bool ignorable = false;           // if it fails, scheduling continues without it
  bool node_cache_capable = false;  // it keeps its own cache, so names and uids suffice
  std::set<std::string, std::less<>> managed_resources;  // empty: it is asked about every pod
};

// Whether the extender is asked about the pod: a container uses one of its managed resources, or it
// has none.
[[nodiscard]] bool interested(const ExtenderSettings& extender, const Pod& pod);

// An extender's answer about one node: the uids of the victims.
struct MetaVictims {
  std::vector<std::string> uids;
  std::int64_t violations = 0;

  bool operator==(const MetaVictims&) const = default;
};
using ExtenderAnswer = std::map<std::string, MetaVictims>;  // by node

// Asks the interested extenders one after the other; each gets the candidates that the previous one
// has left.
class ExtenderRound {
 public:
  ExtenderRound() = default;
  ExtenderRound(std::vector<ExtenderSettings> extenders, const Pod& pod,
                std::vector<Candidate> candidates);

  // The extender to ask now about candidates(); nullptr if the round is over.
  [[nodiscard]] const ExtenderSettings* next() const;
  // The answer of the extender returned by next(), or the error of the request.
  void answer(const Cluster& cluster, const Result<ExtenderAnswer>& answer);

  [[nodiscard]] const std::vector<Candidate>& candidates() const { return candidates_; }
  // Not ok if an extender failed that is not ignorable.
  [[nodiscard]] const FitStatus& fit_status() const { return fit_status_; }
  // The failures of ignorable extenders, one line each.
  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  void fail_with(const ExtenderSettings& extender, std::string what);

  std::vector<ExtenderSettings> extenders_;  // the interested ones
  std::size_t at_ = 0;
  std::vector<Candidate> candidates_;
  FitStatus fit_status_;
  std::vector<std::string> ignored_;
};

}  // namespace holdfast::sync::schedule
