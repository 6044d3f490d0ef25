// Operations on victims: dry runs, disruption budgets, importance, and the choice of a node.

#include <algorithm>

#include "sync/schedule/preemption/dry_run.h"
#include "test/cases/preemption/operations.h"

namespace holdfast::cases {

namespace schedule = sync::schedule;

namespace {

schedule::CandidateLimits read_limits(const json::object& args) {
  schedule::CandidateLimits limits;
  const auto limit = [&args](std::string_view key, int fallback) {
    return static_cast<int>(integer(args, key, {}, fallback));
  };
  limits.percentage = limit("minCandidateNodesPercentage", limits.percentage);
  limits.absolute = limit("minCandidateNodesAbsolute", limits.absolute);
  if (auto valid = limits.check(); !valid) throw Malformed(args, {}, valid.error().what);
  return limits;
}

struct Tried {
  schedule::DryRun run;
  std::size_t runs = 0;  // how many times the filters ran
};

Tried try_nodes(Input& input, Behaviour behaviour) {
  const schedule::PodRef pod = input.pod_at("preemptor");
  const auto plugins = read_filters(input.given, behaviour);
  const schedule::Chain chain(plugins, input.cluster, *pod);
  schedule::VictimSearch search(chain, input.nominator, input.budgets, case_now);
  schedule::Nodes nodes;
  for (const json::value& name : array_of(needs(input.given, "potentialNodes"))) {
    nodes.push_back(&input.node(name));
  }
  const auto limits = read_limits(object_in(input.given, "args"));
  const auto offset = static_cast<std::size_t>(integer(input.given, "offset", {}));
  Tried tried{schedule::dry_run(search, nodes, offset, limits.of(nodes.size())), 0};
  tried.runs = search.runs();
  return tried;
}

void compare_candidate(Check& check, const json::object& wanted, const schedule::Candidate& found) {
  Check one(wanted);
  one.equal("node", json::value(found.node));
  one.equal("numPDBViolations", found.violations);
  (void)one.wants("victimsOrder");
  if (text(wanted, "victimsOrder") == "exact") {
    one.list("victims", names_of(found.victims));
  } else {
    one.set("victims", names_of(found.victims));
  }
  if (auto difference = one.result()) check.fail("candidate " + found.node + ": " + *difference);
}

void compare_candidates(const Operation& op, const json::object& expect,
                        std::vector<schedule::Candidate> found) {
  std::vector<const json::object*> wanted;
  for (const json::value& each : array_of(needs(expect, "candidates"))) {
    wanted.push_back(&object_of(each));
  }
  if (text(expect, "candidatesOrder") == "any") {
    std::sort(wanted.begin(), wanted.end(), [](const auto* left, const auto* right) {
      return text(*left, "node") < text(*right, "node");
    });
    std::sort(found.begin(), found.end(),
              [](const auto& left, const auto& right) { return left.node < right.node; });
  }
  if (wanted.size() != found.size()) {
    return op.check.fail("candidates: expected " + std::to_string(wanted.size()) + ", got " +
                         std::to_string(found.size()));
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    compare_candidate(op.check, *wanted[i], found[i]);
  }
}

void dry_run(const Operation& op, const json::object& expect) {
  Input input(op.given);
  const Tried tried = try_nodes(input, op.behaviour);
  (void)op.check.wants("candidates");
  (void)op.check.wants("candidatesOrder");
  compare_candidates(op, expect, tried.run.candidates);
  op.check.equal("filterInvocations", tried.runs);
  if (op.check.wants("nodeStatuses") == nullptr) return;
  for (const auto& field : object_in(expect, "nodeStatuses")) {
    const std::string name(field.key().data(), field.key().size());
    const schedule::NodeView* node = input.cluster.find(name);
    if (node == nullptr) throw Malformed(field.value(), "no node has this name");
    const auto& found = tried.run.fit_statuses.at(node->position);
    if (!same(field.value(), to_json(found))) {
      op.check.differs("nodeStatuses " + name, field.value(), to_json(found));
    }
  }
}

void select_candidate(const Operation& op) {
  Input input(op.given);
  std::vector<schedule::Candidate> candidates;
  if (find(op.given, "candidates") != nullptr) {
    for (const json::value& each : needs_elements(op.given, "candidates")) {
      candidates.push_back(read_candidate(input, object_of(each)));
      if (candidates.back().victims.empty()) throw Malformed(each, "the candidate has no victims");
    }
  } else {
    candidates = try_nodes(input, op.behaviour).run.candidates;
  }
  auto scores = schedule::default_scores(case_now);
  const std::string functions = needs_text(op.given, "scoreFunctions");
  if (functions == "fewestContainers") {
    scores = {[](const schedule::Candidate& each) {
      std::int64_t containers = 0;
      for (const auto& victim : each.victims) {
        containers += static_cast<std::int64_t>(victim->pod->spec.containers.size());
      }
      return -containers;
    }};
  } else if (functions != "default") {
    throw Malformed(op.given, "scoreFunctions", "unknown score functions " + functions);
  }
  if (candidates.empty()) return op.check.fail("the dry run found no candidate");
  const json::value found(candidates[schedule::choose(candidates, scores)].node);
  op.check.one_of("oneOf", found);
}

void pdb_partition(const Operation& op) {
  Input input(op.given);
  schedule::Budgets::Split split;
  input.budgets.split(input.distinct_pods(array_of(needs(op.given, "pods"))), split);
  op.check.list("violating", names_of(split.violating));
  op.check.list("nonViolating", names_of(split.sparing));
}

void importance(const Operation& op) {
  Input input(op.given);
  const bool found = schedule::more_important(*input.pod_at("a"), *input.pod_at("b"), case_now);
  op.check.equal("aMoreImportant", found);
}

void earliest_start(const Operation& op) {
  Input input(op.given);
  const auto victims = input.distinct_pods(needs_elements(op.given, "victims"));
  const WallTime start = schedule::earliest_start(victims, case_now);
  op.check.equal("startTime", json::value(format_rfc3339(start)));
}

}  // namespace

bool victim_operation(const Operation& op) {
  if (op.name == "dryRun") {
    dry_run(op, op.check.expected());
  } else if (op.name == "selectCandidate") {
    select_candidate(op);
  } else if (op.name == "pdbPartition") {
    pdb_partition(op);
  } else if (op.name == "moreImportant") {
    importance(op);
  } else if (op.name == "earliestStart") {
    earliest_start(op);
  } else if (op.name == "numCandidates") {
    const auto nodes = static_cast<std::size_t>(integer_of(needs(op.given, "numNodes"), {}));
    const auto limits = read_limits(object_in(op.given, "args"));
    op.check.equal("numCandidates", limits.of(nodes));
  } else {
    return false;
  }
  return true;
}

}  // namespace holdfast::cases
