// PodTopologySpread with DoNotSchedule: matching pods must be spread evenly over the domains of a
// label.
//
// Matching pods are counted once for all nodes: O(nodes + their pods). A pod that is added to or
// removed from a trial changes only the count of its node's own domain: one slot for each
// constraint.

#include <algorithm>
#include <limits>

#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/names.h"
#include "sync/schedule/node_matcher.h"
#include "sync/schedule/topology.h"

namespace holdfast::sync::schedule {
namespace {

struct Rule {
  Rule(const Cluster& cluster, const TopologySpreadConstraint& constraint,
       objects::LabelQuery selector)
      : wanted(constraint),
        pods(std::move(selector)),
        domains(cluster, constraint.topology_key),
        counts(domains.size(), 0),
        counted(domains.size(), false) {}

  // The fewest pods in a counted domain if the domain `own` had `changed` more pods.
  [[nodiscard]] int fewest(int own, int changed) const;
  void rank();

  const TopologySpreadConstraint& wanted;
  objects::LabelQuery pods;
  Domains domains;
  std::vector<int> counts;
  std::vector<bool> counted;  // a domain counts if it has an included() node
  std::size_t counted_size = 0;
  // The counted domain with the fewest pods, and the two smallest counts. They suffice for
  // fewest(), because only one domain changes.
  int first = Domains::none;
  int first_count = std::numeric_limits<int>::max();
  int second_count = std::numeric_limits<int>::max();
};

void Rule::rank() {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!counted[i]) continue;
    ++counted_size;
    if (counts[i] < first_count) {
      second_count = first_count;
      first_count = counts[i];
      first = static_cast<int>(i);
    } else {
      second_count = std::min(second_count, counts[i]);
    }
  }
}

int Rule::fewest(int own, int changed) const {
  const auto least = static_cast<std::size_t>(wanted.min_domains.value_or(1));
  if (counted_size < least) return 0;
  const int others = own == first ? second_count : first_count;
  const auto at = static_cast<std::size_t>(own);
  return counted[at] ? std::min(others, counts[at] + changed) : others;
}

class Spread final : public Filter {
 public:
  Spread(const Cluster& cluster, const PodView& pod)
      : Filter(plugin_spread), cluster_(cluster), pod_(pod), nodes_(pod.pod->spec) {}

  // Errors: invalid (a selector).
  [[nodiscard]] Status read();
  [[nodiscard]] bool empty() const { return rules_.empty(); }

  std::size_t slots() const override { return rules_.size(); }
  FitStatus check(const Trial& trial, std::span<const int> slots) const override;
  FitStatus change(const NodeView& node, const PodView& pod, int by,
                   std::span<int> slots) const override;

 private:
  void count(const NodeView& node);
  // Whether the constraint counts the node, by its node affinity and taint policies.
  [[nodiscard]] bool included(const Rule& rule, const NodeView& node) const;
  [[nodiscard]] bool has_all_labels(const NodeView& node) const;
  [[nodiscard]] bool matches(const Rule& rule, const PodView& other) const;

  const Cluster& cluster_;
  const PodView& pod_;
  NodeMatcher nodes_;
  std::vector<Rule> rules_;
};

Status Spread::read() {
  const auto& constraints = pod_.pod->spec.topology_spread_constraints;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const TopologySpreadConstraint& each = constraints[i];
    if (each.when_unsatisfiable != "DoNotSchedule") continue;
    auto pods =
        compile_selector(each.label_selector, each.match_label_keys, {}, pod_.pod->metadata.labels);
    if (!pods) {
      return fail("spec.topologySpreadConstraints[" + std::to_string(i) + "].labelSelector",
                  pods.error());
    }
    rules_.emplace_back(cluster_, each, std::move(*pods));
  }
  if (rules_.empty()) return {};
  for (const NodeView* node : cluster_.nodes()) count(*node);
  for (Rule& rule : rules_) rule.rank();
  return {};
}

bool Spread::included(const Rule& rule, const NodeView& node) const {
  if (rule.wanted.node_affinity_policy.value_or("Honor") == "Honor" &&
      !nodes_.matches(*node.node)) {
    return false;
  }
  return rule.wanted.node_taints_policy.value_or("Ignore") != "Honor" ||
         untolerated(node.node->spec.taints, *pod_.pod) == nullptr;
}

bool Spread::has_all_labels(const NodeView& node) const {
  return std::all_of(rules_.begin(), rules_.end(),
                     [&node](const Rule& rule) { return rule.domains.of(node) != Domains::none; });
}

// Terminating pods do not count.
bool Spread::matches(const Rule& rule, const PodView& other) const {
  return other.namespace_name() == pod_.namespace_name() &&
         !other.pod->metadata.deletion_timestamp && rule.pods.matches(other.pod->metadata.labels);
}

void Spread::count(const NodeView& node) {
  if (!has_all_labels(node)) return;
  for (Rule& rule : rules_) {
    if (!included(rule, node)) continue;
    const auto domain = static_cast<std::size_t>(rule.domains.of(node));
    rule.counted[domain] = true;
    for (const PodRef& pod : node.pods) rule.counts[domain] += matches(rule, *pod) ? 1 : 0;
  }
}

FitStatus Spread::change(const NodeView& node, const PodView& pod, int by,
                         std::span<int> slots) const {
  if (pod.namespace_name() != pod_.namespace_name() || !has_all_labels(node)) return {};
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (matches(rules_[i], pod) && included(rules_[i], node)) slots[i] += by;
  }
  return {};
}

FitStatus Spread::check(const Trial& trial, std::span<const int> slots) const {
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const Rule& rule = rules_[i];
    const int domain = rule.domains.of(trial.node());
    if (domain == Domains::none) {
      return reject(Code::unresolvable, std::string(reason_spread_label));
    }
    const int fewest = rule.fewest(domain, slots[i]);
    const int self = rule.pods.matches(pod_.pod->metadata.labels) ? 1 : 0;
    const int here = rule.counts[static_cast<std::size_t>(domain)] + slots[i] + self;
    // If no domain is counted, the spread cannot be uneven.
    if (fewest != std::numeric_limits<int>::max() && here - fewest > rule.wanted.max_skew) {
      return reject(Code::unschedulable, std::string(reason_spread));
    }
  }
  return {};
}

}  // namespace

Plugin pod_topology_spread() {
  return {plugin_spread, [](const Cluster& cluster, const PodView& pod) {
            if (pod.pod->spec.topology_spread_constraints.empty()) return Prepared{nullptr, {}};
            auto filter = std::make_unique<Spread>(cluster, pod);
            if (const auto read = filter->read(); !read) {
              return Prepared{nullptr, reject(Code::unresolvable, read.error().what)};
            }
            if (filter->empty()) return Prepared{nullptr, {}};
            return Prepared{std::move(filter), {}};
          }};
}

}  // namespace holdfast::sync::schedule
