#include "sync/schedule/preemption/preemption.h"

#include <algorithm>

#include "platform/check.h"
#include "platform/integers.h"
#include "sync/schedule/names.h"

namespace holdfast::sync::schedule {

bool leaves_for_another(const Pod& pod) {
  if (!pod.metadata.deletion_timestamp) return false;
  const PodCondition* condition = find_condition(pod.status, condition_disruption);
  return condition != nullptr && condition->status == "True" &&
         condition->reason == reason_by_scheduler;
}

std::string ineligible(const Cluster& cluster, const PodView& pod, const FitStatus& nominated) {
  if (pod.pod->spec.preemption_policy == "Never") return std::string(reason_never);
  const std::string& name = pod.pod->status.nominated_node_name;
  if (name.empty() || nominated.code == Code::unresolvable) return {};
  const NodeView* node = cluster.find(name);
  if (node == nullptr) return {};
  const bool waits = std::any_of(node->pods.begin(), node->pods.end(), [&pod](const PodRef& other) {
    return other->priority < pod.priority && leaves_for_another(*other->pod);
  });
  return waits ? std::string(reason_still_terminating) : std::string();
}

Nodes worth_trying(const Cluster& cluster, const NodeFitStatuses& fit_statuses) {
  Nodes nodes;
  for (const NodeView* node : cluster.nodes()) {
    if (fit_statuses.at(node->position).code == Code::unschedulable) nodes.push_back(node);
  }
  return nodes;
}

FitStatus preemption_fit_status(Code code, const std::string& message) {
  if (message.empty()) return {code, {}};
  return FitStatus{code, {"preemption: " + message}, plugin_preemption};
}

void Preemption::finish(Code code, const std::string& message, Nomination nomination) {
  outcome_ = {preemption_fit_status(code, message), std::move(nomination), std::nullopt};
}

DryRun Preemption::try_out(const PreemptionView& view, const Chain& chain, const Nodes& nodes,
                           WallTime now, std::size_t offset) const {
  const std::size_t limit = options_.limits.of(nodes.size());
  if (options_.for_each && nodes.size() >= options_.parallel_from) {
    const DryRunView all{chain, view.nominator, view.budgets, now};
    return dry_run(all, nodes, offset, limit, options_.for_each);
  }
  VictimSearch search(chain, view.nominator, view.budgets, now);
  return dry_run(search, nodes, offset, limit);
}

void Preemption::start(const PreemptionView& view, const NodeFitStatuses& fit_statuses,
                       WallTime now, Random& random) {
  CHECK(!outcome_);
  const NodeView* nominated = view.cluster.find(pod_->pod->status.nominated_node_name);
  const FitStatus& there =
      nominated != nullptr ? fit_statuses.at(nominated->position) : fit_statuses.absent();
  if (const std::string why = ineligible(view.cluster, *pod_, there); !why.empty()) {
    return finish(Code::unschedulable, why);
  }
  if (view.cluster.nodes().empty()) return finish(Code::error, "no nodes available");
  const Nodes nodes = worth_trying(view.cluster, fit_statuses);
  const Chain chain(view.plugins, view.cluster, *pod_);
  const auto first = to_size(random.below(nodes.size()));
  DryRun tried = try_out(view, chain, nodes, now, first);
  if (tried.candidates.empty()) {
    if (!tried.errors.empty()) return finish(Code::error, aggregate(tried.errors));
    tried.fit_statuses.set_absent(reject(Code::unresolvable, std::string(reason_not_helpful)));
    return finish(Code::unschedulable, fit_error(view.cluster.nodes().size(), tried.fit_statuses),
                  "");
  }
  round_ = ExtenderRound(options_.extenders, *pod_->pod, std::move(tried.candidates));
  if (round_.next() == nullptr) choose_node(now);
}

void Preemption::answer(const Cluster& cluster, const Result<ExtenderAnswer>& answer,
                        WallTime now) {
  round_.answer(cluster, answer);
  if (!round_.fit_status().ok()) return finish(Code::error, round_.fit_status().message());
  if (round_.next() == nullptr) choose_node(now);
}

void Preemption::choose_node(WallTime now) {
  const std::vector<Candidate>& left = round_.candidates();
  if (left.empty()) return finish(Code::unschedulable, std::string(reason_no_candidate));
  const Candidate& chosen = left[choose(left, default_scores(now))];
  outcome_ = {FitStatus{}, chosen.node, chosen};
}

}  // namespace holdfast::sync::schedule
