#include "sync/schedule/preemption/dry_run.h"

#include <algorithm>

#include "platform/text.h"
#include "sync/schedule/names.h"

namespace holdfast::sync::schedule {

Status CandidateLimits::check() const {
  if (percentage < 0 || percentage > 100) {
    return fail(Errc::invalid, "minCandidateNodesPercentage: not in valid range (0, 100)");
  }
  if (absolute < 0) return fail(Errc::invalid, "minCandidateNodesAbsolute: not in valid range");
  if (percentage == 0 && absolute == 0) {
    return fail(Errc::invalid,
                "minCandidateNodesPercentage, minCandidateNodesAbsolute: both are zero");
  }
  return {};
}

std::size_t CandidateLimits::of(std::size_t nodes) const {
  const std::size_t share = nodes * static_cast<std::size_t>(percentage) / 100;
  return std::min(std::max(share, static_cast<std::size_t>(absolute)), nodes);
}

Verdict VictimSearch::remove_lower(const NodeView& node) {
  lower_.clear();
  for (const PodRef& pod : node.pods) {
    if (pod->priority < chain_.pod().priority) lower_.push_back(pod);
  }
  if (lower_.empty()) return reject(Code::unresolvable, std::string(reason_no_victims));
  trial_.start(node);
  for (const PodRef& pod : lower_) {
    if (Verdict verdict = trial_.remove(*pod); !verdict.ok()) return verdict;
  }
  return {};
}

Verdict VictimSearch::reprieve(std::span<const PodRef> promised, const std::vector<PodRef>& pods,
                               std::vector<PodRef>& victims) {
  for (const PodRef& pod : pods) {
    if (Verdict verdict = trial_.add(*pod); !verdict.ok()) return verdict;
    if (chain_.passes_twice(trial_, promised)) continue;
    if (Verdict verdict = trial_.remove(*pod); !verdict.ok()) return verdict;
    victims.push_back(pod);
  }
  return {};
}

Verdict VictimSearch::search(const NodeView& node, Candidate& out) {
  if (Verdict verdict = remove_lower(node); !verdict.ok()) return verdict;
  const std::span<const PodRef> promised = nominator_.on(node.name());
  if (Verdict verdict = chain_.check_twice(trial_, promised); !verdict.ok()) return verdict;
  sort_by_importance(lower_, now_);
  budgets_.split(lower_, split_);
  out.node = node.name();
  out.victims.clear();
  if (Verdict verdict = reprieve(promised, split_.violating, out.victims); !verdict.ok()) {
    return verdict;
  }
  out.violations = static_cast<std::int64_t>(out.victims.size());
  if (Verdict verdict = reprieve(promised, split_.sparing, out.victims); !verdict.ok())
    return verdict;
  // Those that break budgets came first; the choice of the node reads the first one.
  if (!split_.violating.empty() && !split_.sparing.empty()) sort_by_importance(out.victims, now_);
  if (!out.victims.empty()) return {};
  // It should not have failed before.
  return reject(Code::error, "expected at least one victim pod on node \"" + node.name() + "\"");
}

DryRun dry_run(VictimSearch& search, const Nodes& nodes, std::size_t offset, std::size_t limit) {
  DryRun out;
  std::vector<Candidate> violating;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeView& node = *nodes[(offset + i) % nodes.size()];
    Candidate candidate;
    ++out.evaluated;
    Verdict verdict = search.search(node, candidate);
    if (!verdict.ok()) {
      if (verdict.code == Code::error) out.errors.push_back(verdict.message());
      out.verdicts.set(node.position, std::move(verdict));
      continue;
    }
    auto& list = candidate.violations == 0 ? out.candidates : violating;
    if (list.size() < limit) list.push_back(std::move(candidate));
    if (!out.candidates.empty() && out.candidates.size() + violating.size() >= limit) break;
  }
  std::move(violating.begin(), violating.end(), std::back_inserter(out.candidates));
  return out;
}

std::string aggregate(const std::vector<std::string>& errors) {
  std::vector<std::string> distinct;
  for (const std::string& error : errors) {
    if (std::find(distinct.begin(), distinct.end(), error) == distinct.end()) {
      distinct.push_back(error);
    }
  }
  return distinct.size() == 1 ? distinct.front() : "[" + join(distinct, ", ") + "]";
}

}  // namespace holdfast::sync::schedule
