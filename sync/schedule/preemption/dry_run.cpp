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

FitStatus VictimSearch::remove_lower(const NodeView& node) {
  lower_.clear();
  for (const PodRef& pod : node.pods) {
    if (pod->priority < chain_.pod().priority) lower_.push_back(pod);
  }
  if (lower_.empty()) return reject(Code::unresolvable, std::string(reason_no_victims));
  trial_.start(node);
  for (const PodRef& pod : lower_) {
    if (FitStatus fit_status = trial_.remove(*pod); !fit_status.ok()) return fit_status;
  }
  return {};
}

FitStatus VictimSearch::reprieve(std::span<const PodRef> nominated, const std::vector<PodRef>& pods,
                                 std::vector<PodRef>& victims) {
  for (const PodRef& pod : pods) {
    if (FitStatus fit_status = trial_.add(*pod); !fit_status.ok()) return fit_status;
    if (chain_.passes_twice(trial_, nominated)) continue;
    if (FitStatus fit_status = trial_.remove(*pod); !fit_status.ok()) return fit_status;
    victims.push_back(pod);
  }
  return {};
}

FitStatus VictimSearch::search(const NodeView& node, Candidate& out) {
  // Remove all pods of lower priority. If the pod fits then, add them back one by one, those that
  // violate a budget first and within each group the most important first.
  if (FitStatus fit_status = remove_lower(node); !fit_status.ok()) return fit_status;
  const std::span<const PodRef> nominated = nominator_.on(node.name());
  if (FitStatus fit_status = chain_.check_twice(trial_, nominated); !fit_status.ok())
    return fit_status;
  sort_by_importance(lower_, now_);
  budgets_.split(lower_, split_);
  out.node = node.name();
  out.victims.clear();
  if (FitStatus fit_status = reprieve(nominated, split_.violating, out.victims); !fit_status.ok()) {
    return fit_status;
  }
  out.violations = static_cast<std::int64_t>(out.victims.size());
  if (FitStatus fit_status = reprieve(nominated, split_.sparing, out.victims); !fit_status.ok())
    return fit_status;
  // Victims that violate budgets were appended first, but the choice of the node reads the first
  // victim as the most important one.
  if (!split_.violating.empty() && !split_.sparing.empty()) sort_by_importance(out.victims, now_);
  if (!out.victims.empty()) return {};
  // Without victims the pod fits, so the node should not have been rejected before.
  return reject(Code::error, "expected at least one victim pod on node \"" + node.name() + "\"");
}

namespace {

// Collects the results of the nodes in the order of the scan.
class Gathering {
 public:
  explicit Gathering(std::size_t limit) : limit_(limit) {}

  // Returns false when no more nodes are needed.
  bool add(const NodeView& node, FitStatus fit_status, Candidate candidate) {
    ++out_.evaluated;
    if (!fit_status.ok()) {
      if (fit_status.code == Code::error) out_.errors.push_back(fit_status.message());
      out_.fit_statuses.set(node.position, std::move(fit_status));
      return true;
    }
    auto& list = candidate.violations == 0 ? out_.candidates : violating_;
    if (list.size() < limit_) list.push_back(std::move(candidate));
    return out_.candidates.empty() || out_.candidates.size() + violating_.size() < limit_;
  }

  DryRun finish() {
    std::move(violating_.begin(), violating_.end(), std::back_inserter(out_.candidates));
    return std::move(out_);
  }

 private:
  std::size_t limit_;
  DryRun out_;
  std::vector<Candidate> violating_;
};

// Nodes in one block: enough to be worth waking a thread, few enough to share the work evenly.
constexpr std::size_t block_size = 16;
constexpr std::size_t round_size_least = 128;

}  // namespace

DryRun dry_run(VictimSearch& search, const Nodes& nodes, std::size_t offset, std::size_t limit) {
  Gathering found(limit);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeView& node = *nodes[(offset + i) % nodes.size()];
    Candidate candidate;
    FitStatus fit_status = search.search(node, candidate);
    if (!found.add(node, std::move(fit_status), std::move(candidate))) break;
  }
  return found.finish();
}

DryRun dry_run(const DryRunView& view, const Nodes& nodes, std::size_t offset, std::size_t limit,
               const ForEach& for_each) {
  struct Tried {
    FitStatus fit_status;
    Candidate candidate;
  };
  Gathering found(limit);
  const std::size_t round = std::max(limit, round_size_least);
  const auto node_at = [&nodes, offset](std::size_t i) -> const NodeView& {
    return *nodes[(offset + i) % nodes.size()];
  };
  bool wanting = true;
  for (std::size_t begin = 0; begin < nodes.size() && wanting; begin += round) {
    const std::size_t count = std::min(round, nodes.size() - begin);
    std::vector<Tried> tried(count);
    for_each((count + block_size - 1) / block_size,
             [&view, &tried, &node_at, count, begin](std::size_t block) {
               VictimSearch search(view.chain, view.nominator, view.budgets, view.now);
               const std::size_t end = std::min(count, (block + 1) * block_size);
               for (std::size_t i = block * block_size; i < end; ++i) {
                 tried[i].fit_status = search.search(node_at(begin + i), tried[i].candidate);
               }
             });
    for (std::size_t i = 0; i < count && wanting; ++i) {
      wanting = found.add(node_at(begin + i), std::move(tried[i].fit_status),
                          std::move(tried[i].candidate));
    }
  }
  return found.finish();
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
