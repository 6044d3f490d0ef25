// Extenders: other programs that may strike out nodes and victims. Requests and answers as values;
// whoever speaks HTTP turns them into bytes.

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
  std::string url;  // it is named by it
  bool preempts = false;
  bool ignorable = false;  // its failure is no failure
  bool node_cache_capable = false;
  std::set<std::string, std::less<>> managed_resources;  // empty: every pod is its business
};

// Whether a container asks for one of its resources.
[[nodiscard]] bool interested(const ExtenderSettings& extender, const Pod& pod);

// What an extender says of one node: victims by uid.
struct MetaVictims {
  std::vector<std::string> uids;
  std::int64_t violations = 0;

  bool operator==(const MetaVictims&) const = default;
};
using ExtenderAnswer = std::map<std::string, MetaVictims>;  // by node

// Asks the extenders that care, one after the other.
class ExtenderRound {
 public:
  ExtenderRound() = default;
  ExtenderRound(std::vector<ExtenderSettings> extenders, const Pod& pod,
                std::vector<Candidate> candidates);

  // Who is to be asked now, with candidates(); nullptr: the round is over.
  [[nodiscard]] const ExtenderSettings* next() const;
  // Its answer, or why there is none.
  void answer(const Cluster& cluster, const Result<ExtenderAnswer>& answer);

  [[nodiscard]] const std::vector<Candidate>& candidates() const { return candidates_; }
  // Not ok: an extender that must not fail did.
  [[nodiscard]] const FitStatus& verdict() const { return verdict_; }
  // The failures that did not count, one line each.
  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  void fail_with(const ExtenderSettings& extender, std::string what);

  std::vector<ExtenderSettings> extenders_;  // the interested ones
  std::size_t at_ = 0;
  std::vector<Candidate> candidates_;
  FitStatus verdict_;
  std::vector<std::string> ignored_;
};

}  // namespace holdfast::sync::schedule
