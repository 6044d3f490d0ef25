#include "sync/schedule/attempt.h"

#include <algorithm>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/schedule/contact.h"
#include "sync/schedule/names.h"

namespace holdfast::sync::schedule {
namespace {

Nodes candidates(const Chain& chain) {
  const Nodes& all = chain.cluster().nodes();
  if (!chain.only_nodes()) return all;
  Nodes some;
  for (const std::string& name : *chain.only_nodes()) {
    if (const NodeView* node = chain.cluster().find(name)) some.push_back(node);
  }
  return some;
}

// The status of every node that was not checked.
FitStatus absent_fit_status(const Chain& chain) {
  if (!chain.prepared().ok()) return chain.prepared();
  if (!chain.only_nodes()) return {Code::unresolvable, {}};
  return reject(Code::unresolvable,
                "node(s) didn't satisfy plugin(s) [" + join(chain.restricted_by(), " ") + "]");
}

// Adds the rejecting plugin to the diagnosis.
void blame(Diagnosis& diagnosis, const FitStatus& fit_status) {
  if (fit_status.plugin.empty()) return;
  diagnosis.unschedulable_plugins.emplace(fit_status.plugin);
  if (fit_status.code == Code::pending) diagnosis.pending_plugins.emplace(fit_status.plugin);
}

Diagnosis diagnose(const Chain& chain, NodeFitStatuses fit_statuses) {
  Diagnosis diagnosis;
  diagnosis.nodes = chain.cluster().nodes().size();
  diagnosis.fit_statuses = std::move(fit_statuses);
  diagnosis.fit_statuses.set_absent(absent_fit_status(chain));
  blame(diagnosis, chain.prepared());
  for (const std::string& plugin : chain.restricted_by()) {
    diagnosis.unschedulable_plugins.insert(plugin);
  }
  if (!chain.prepared().ok()) diagnosis.prefilter = chain.prepared().message();
  diagnosis.fit_statuses.each(
      [&diagnosis](std::size_t, const FitStatus& fit_status) { blame(diagnosis, fit_status); });
  return diagnosis;
}

}  // namespace

const NodeView* Finder::nominated(const Chain& chain, const Nominator& nominator) const {
  const PodView& pod = chain.pod();
  std::string name = nominator.node_of(pod.uid());
  if (name.empty()) name = pod.pod->status.nominated_node_name;
  const NodeView* node = name.empty() ? nullptr : chain.cluster().find(name);
  if (node == nullptr) return nullptr;
  if (chain.only_nodes() &&
      !std::binary_search(chain.only_nodes()->begin(), chain.only_nodes()->end(), name)) {
    return nullptr;
  }
  Trial trial(chain);
  trial.start(*node);
  return chain.check_twice(trial, nominator.on(name)).ok() ? node : nullptr;
}

Finder::Scan Finder::scan(const Chain& chain, const Nominator& nominator, const Nodes& nodes) {
  Scan scan;
  std::size_t in_contact = 0;
  const std::size_t enough = feasible_enough(nodes.size(), options_.percentage_of_nodes);
  Trial trial(chain);
  const std::size_t start = nodes.empty() ? 0 : next_start_ % nodes.size();
  for (std::size_t i = 0; i < nodes.size() && in_contact < enough; ++i) {
    const NodeView& node = *nodes[(start + i) % nodes.size()];
    trial.start(node);
    FitStatus fit_status = chain.check_twice(trial, nominator.on(node.name()));
    ++scan.evaluated;
    if (fit_status.ok()) {
      scan.feasible.push_back(&node);
      if (!is_out_of_contact(*node.node)) ++in_contact;
    } else if (fit_status.code == Code::error) {
      scan.failure = std::move(fit_status);
      return scan;
    } else {
      scan.fit_statuses.set(node.position, std::move(fit_status));
    }
  }
  next_start_ = nodes.empty() ? 0 : (start + scan.evaluated) % nodes.size();
  return scan;
}

FeasibleNodes Finder::feasible_nodes(const Cluster& cluster, const Nominator& nominator,
                                     const PodView& pod, bool try_promised) {
  FeasibleNodes found;
  if (cluster.nodes().empty()) {
    found.fit_status = reject(Code::unresolvable, std::string(reason_no_nodes));
    return found;
  }
  const Chain chain(plugins_, cluster, pod);
  if (chain.prepared().code == Code::error) {
    found.fit_status = chain.prepared();
    return found;
  }
  Scan scan;
  if (chain.prepared().ok()) {
    const NodeView* promised = try_promised ? nominated(chain, nominator) : nullptr;
    if (promised != nullptr) {
      found.feasible = {promised};
      found.promised = true;
      found.evaluated = 1;
      return found;
    }
    scan = this->scan(chain, nominator, candidates(chain));
  }
  found.evaluated = scan.evaluated;
  found.feasible = std::move(scan.feasible);
  if (!scan.failure.ok()) {
    found.fit_status = std::move(scan.failure);
  } else {
    found.diagnosis = diagnose(chain, std::move(scan.fit_statuses));
  }
  return found;
}

Attempt Finder::decide(FeasibleNodes feasible_nodes, const PodView& pod, const Scores& extra,
                       Random& random) const {
  CHECK(extra.empty() || extra.size() == feasible_nodes.feasible.size());
  Attempt attempt;
  attempt.evaluated = feasible_nodes.evaluated;
  attempt.feasible = feasible_nodes.feasible.size();
  if (!feasible_nodes.fit_status.ok()) {
    attempt.fit_status = std::move(feasible_nodes.fit_status);
    return attempt;
  }
  if (feasible_nodes.feasible.empty()) {
    attempt.diagnosis = std::move(feasible_nodes.diagnosis);
    attempt.fit_status = FitStatus{Code::unschedulable, {fit_error(*attempt.diagnosis)}};
    return attempt;
  }
  Nodes nodes;
  Scores more;
  // Nodes that are out of contact are only considered if no other node fits.
  for (const bool tolerated : {false, true}) {
    for (std::size_t i = 0; i < feasible_nodes.feasible.size(); ++i) {
      if (is_out_of_contact(*feasible_nodes.feasible[i]->node) != tolerated) continue;
      nodes.push_back(feasible_nodes.feasible[i]);
      if (!extra.empty()) more.push_back(extra[i]);
    }
    if (!nodes.empty()) break;
  }
  if (nodes.size() == 1) {
    attempt.node = nodes.front();
    return attempt;
  }
  Scores scores = score(pod, nodes, options_.weights);
  for (std::size_t i = 0; i < more.size(); ++i) scores[i] += more[i];
  attempt.node = nodes[select_host(scores, random)];
  return attempt;
}

Attempt Finder::find(const Cluster& cluster, const Nominator& nominator, const PodView& pod,
                     Random& random) {
  return decide(feasible_nodes(cluster, nominator, pod), pod, {}, random);
}

}  // namespace holdfast::sync::schedule
