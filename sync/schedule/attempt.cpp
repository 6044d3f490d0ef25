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

// The verdict of every node that was not checked.
FitStatus absent_verdict(const Chain& chain) {
  if (!chain.prepared().ok()) return chain.prepared();
  if (!chain.only_nodes()) return {Code::unresolvable, {}};
  return reject(Code::unresolvable,
                "node(s) didn't satisfy plugin(s) [" + join(chain.restricted_by(), " ") + "]");
}

// Adds the rejecting plugin to the diagnosis.
void blame(Diagnosis& diagnosis, const FitStatus& verdict) {
  if (verdict.plugin.empty()) return;
  diagnosis.unschedulable_plugins.emplace(verdict.plugin);
  if (verdict.code == Code::pending) diagnosis.pending_plugins.emplace(verdict.plugin);
}

Diagnosis diagnose(const Chain& chain, NodeFitStatuses verdicts) {
  Diagnosis diagnosis;
  diagnosis.nodes = chain.cluster().nodes().size();
  diagnosis.verdicts = std::move(verdicts);
  diagnosis.verdicts.set_absent(absent_verdict(chain));
  blame(diagnosis, chain.prepared());
  for (const std::string& plugin : chain.restricted_by()) {
    diagnosis.unschedulable_plugins.insert(plugin);
  }
  if (!chain.prepared().ok()) diagnosis.prefilter = chain.prepared().message();
  diagnosis.verdicts.each(
      [&diagnosis](std::size_t, const FitStatus& verdict) { blame(diagnosis, verdict); });
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
    FitStatus verdict = chain.check_twice(trial, nominator.on(node.name()));
    ++scan.evaluated;
    if (verdict.ok()) {
      scan.feasible.push_back(&node);
      if (!out_of_contact(*node.node)) ++in_contact;
    } else if (verdict.code == Code::error) {
      scan.failure = std::move(verdict);
      return scan;
    } else {
      scan.verdicts.set(node.position, std::move(verdict));
    }
  }
  next_start_ = nodes.empty() ? 0 : (start + scan.evaluated) % nodes.size();
  return scan;
}

Survey Finder::survey(const Cluster& cluster, const Nominator& nominator, const PodView& pod,
                      bool try_promised) {
  Survey found;
  if (cluster.nodes().empty()) {
    found.verdict = reject(Code::unresolvable, std::string(reason_no_nodes));
    return found;
  }
  const Chain chain(plugins_, cluster, pod);
  if (chain.prepared().code == Code::error) {
    found.verdict = chain.prepared();
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
    found.verdict = std::move(scan.failure);
  } else {
    found.diagnosis = diagnose(chain, std::move(scan.verdicts));
  }
  return found;
}

Attempt Finder::decide(Survey survey, const PodView& pod, const Scores& extra,
                       Random& random) const {
  CHECK(extra.empty() || extra.size() == survey.feasible.size());
  Attempt attempt;
  attempt.evaluated = survey.evaluated;
  attempt.feasible = survey.feasible.size();
  if (!survey.verdict.ok()) {
    attempt.verdict = std::move(survey.verdict);
    return attempt;
  }
  if (survey.feasible.empty()) {
    attempt.diagnosis = std::move(survey.diagnosis);
    attempt.verdict = FitStatus{Code::unschedulable, {fit_error(*attempt.diagnosis)}};
    return attempt;
  }
  Nodes nodes;
  Scores more;
  // Nodes that are out of contact are only considered if no other node fits.
  for (const bool tolerated : {false, true}) {
    for (std::size_t i = 0; i < survey.feasible.size(); ++i) {
      if (out_of_contact(*survey.feasible[i]->node) != tolerated) continue;
      nodes.push_back(survey.feasible[i]);
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
  return decide(survey(cluster, nominator, pod), pod, {}, random);
}

}  // namespace holdfast::sync::schedule
