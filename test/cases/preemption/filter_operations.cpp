// Operations on single nodes: filters, messages, scores, and the random choice among the best.

#include "sync/schedule/scores.h"
#include "test/cases/preemption/operations.h"

namespace holdfast::cases {

namespace schedule = sync::schedule;

namespace {

constexpr Range any_score{-1'000'000'000, 1'000'000'000};

json::value shortfalls(const std::vector<schedule::Shortfall>& missing) {
  json::array all;
  for (const schedule::Shortfall& each : missing) {
    all.push_back(json::object{{"resource", each.resource},
                               {"reason", each.reason},
                               {"requested", each.requested},
                               {"used", each.used},
                               {"capacity", each.capacity}});
  }
  return all;
}

const schedule::NodeView& the_node(const Input& input) {
  const schedule::Nodes& nodes = input.cluster.nodes();
  if (nodes.size() != 1) throw Malformed(input.given, "nodes", "expected one node");
  return *nodes.front();
}

void filter(const Operation& op) {
  Input input(op.given);
  const schedule::PodRef pod = input.pod_at("pod");
  const auto plugins = read_filters(op.given, op.behaviour);
  const schedule::Chain chain(plugins, input.cluster, *pod);
  const schedule::NodeView& node = the_node(input);
  schedule::FitStatus fit_status = chain.prepared();
  if (fit_status.ok()) {
    schedule::Trial trial(chain);
    trial.start(node);
    fit_status = chain.check(trial);
  }
  op.check.status("status", {fit_status.code, fit_status.reasons});
  const auto missing =
      schedule::shortfalls(*pod, node, node.requested, static_cast<std::int64_t>(node.pods.size()),
                           input.cluster.symbols(), read_fit_options(op.given, op.behaviour));
  op.check.equal("insufficient", shortfalls(missing));
}

void normalize(const Operation& op) {
  schedule::Scores scores;
  for (const json::value& each : array_of(needs(op.given, "scores"))) {
    scores.push_back(integer_of(each, any_score));
  }
  schedule::normalize(scores, flag(op.given, "reverse"));
  json::array found;
  for (const std::int64_t each : scores) found.emplace_back(each);
  op.check.equal("scores", found);
}

void select_host(const Operation& op) {
  schedule::Scores scores;
  Names nodes;
  for (const json::value& each : needs_elements(op.given, "scores")) {
    scores.push_back(integer_of(needs(object_of(each), "score"), any_score));
    nodes.push_back(needs_text(each.get_object(), "node"));
  }
  op.check.equal("error", nullptr);
  // In 1,000 draws every node with the best score must occur, and no other node.
  std::set<std::string> drawn;
  Random random(1);
  for (int i = 0; i < 1000; ++i) drawn.insert(nodes[schedule::select_host(scores, random)]);
  op.check.set("oneOf", Names(drawn.begin(), drawn.end()));
}

schedule::ResourceWeights read_weights(const json::object& given) {
  schedule::ResourceWeights weights;
  for (const json::value& each : array_in(object_in(given, "args"), "resources")) {
    const json::object& one = object_of(each);
    const std::string name = needs_text(one, "name");
    if (name != "cpu" && name != "memory") throw Malformed(one, "name", "unknown resource " + name);
    (name == "cpu" ? weights.cpu : weights.memory) = integer_of(needs(one, "weight"), {0, 1000});
  }
  return weights;
}

void score(const Operation& op) {
  Input input(op.given);
  const schedule::PodRef pod = input.pod_at("preemptor");
  const std::string name = needs_text(op.given, "score");
  const schedule::Nodes& nodes = input.cluster.nodes();
  const schedule::Scores taints = schedule::taint_scores(*pod, nodes);
  json::object found;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::int64_t value = taints[i];
    if (name == "LeastAllocated") {
      value = schedule::least_allocated(*pod, *nodes[i], read_weights(op.given));
    } else if (name == "BalancedAllocation") {
      value = schedule::balanced_allocation(*pod, *nodes[i]);
    } else if (name != "TaintToleration") {
      throw Malformed(op.given, "score", "unknown score " + name);
    }
    found[nodes[i]->name()] = value;
  }
  op.check.equal("scores", found);
}

}  // namespace

bool filter_operation(const Operation& op) {
  if (op.name == "filter") {
    filter(op);
  } else if (op.name == "fitError") {
    op.check.equal("message", json::value(schedule::fit_error(read_diagnosis(op.given))));
  } else if (op.name == "numFeasibleNodes") {
    const auto nodes = static_cast<std::size_t>(integer_of(needs(op.given, "numNodes"), {}));
    const auto percentage = static_cast<int>(integer_of(needs(op.given, "percentage"), {0, 100}));
    op.check.equal("numFeasibleNodes", schedule::feasible_enough(nodes, percentage));
  } else if (op.name == "normalize") {
    normalize(op);
  } else if (op.name == "selectHost") {
    select_host(op);
  } else if (op.name == "score") {
    score(op);
  } else {
    return false;
  }
  return true;
}

}  // namespace holdfast::cases
