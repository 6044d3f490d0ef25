// InterPodAffinity: the required terms of the pod for other pods, and of other pods for it.
//
// Matching pods are counted once for all nodes: O(nodes + pods). A pod that is added to or removed
// from a trial changes only the counts of its node's own domains: one slot for each term.

#include <algorithm>

#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/names.h"
#include "sync/schedule/topology.h"

namespace holdfast::sync::schedule {
namespace {

// The number of pods in each domain of a topology key that match one term.
struct Tally {
  Tally(const Cluster& cluster, const std::string& topology_key)
      : key(topology_key), domains(cluster, topology_key), counts(domains.size(), 0) {}

  void add(const NodeView& node) {
    const int domain = domains.of(node);
    if (domain == Domains::none) return;
    ++counts[static_cast<std::size_t>(domain)];
    ++total;
  }
  [[nodiscard]] int at(const NodeView& node, int changed) const {
    const int domain = domains.of(node);
    return domain == Domains::none ? 0 : counts[static_cast<std::size_t>(domain)] + changed;
  }

  std::string key;
  Domains domains;
  std::vector<int> counts;
  int total = 0;
};

class Affinity final : public Filter {
 public:
  Affinity(const Cluster& cluster, const PodView& pod);

  // The last slot is for anti-affinity with topology keys that are not in theirs_.
  std::size_t slots() const override {
    return wanted_.size() + unwanted_.size() + theirs_.size() + 1;
  }
  FitStatus check(const Trial& trial, std::span<const int> slots) const override;
  FitStatus change(const NodeView& node, const PodView& pod, int by,
                   std::span<int> slots) const override;

 private:
  // Whether `other` matches all affinity terms. As upstream, it then counts for each of them, and
  // for none otherwise.
  [[nodiscard]] bool wanted(const PodView& other) const;
  [[nodiscard]] bool wanted_nearby(const NodeView& node, std::span<const int> slots) const;
  void count(const NodeView& node);
  // The index of the key in theirs_, or theirs_.size().
  [[nodiscard]] std::size_t index_of(const std::string& key) const;

  const Cluster& cluster_;
  const PodView& pod_;
  std::vector<Tally> wanted_;    // for each affinity term of the pod
  std::vector<Tally> unwanted_;  // for each anti-affinity term of the pod
  std::vector<Tally> theirs_;    // for each topology key in the anti-affinity of other pods
};

Affinity::Affinity(const Cluster& cluster, const PodView& pod)
    : Filter(plugin_pod_affinity), cluster_(cluster), pod_(pod) {
  for (const AffinityTerm& term : pod.affinity()) wanted_.emplace_back(cluster, term.topology_key);
  for (const AffinityTerm& term : pod.anti_affinity()) {
    unwanted_.emplace_back(cluster, term.topology_key);
  }
  for (const NodeView* node : cluster.nodes()) count(*node);
}

bool Affinity::wanted(const PodView& other) const {
  const auto& terms = pod_.affinity();
  return !terms.empty() &&
         std::all_of(terms.begin(), terms.end(), [this, &other](const AffinityTerm& term) {
           return term.matches(*other.pod, cluster_.namespaces());
         });
}

std::size_t Affinity::index_of(const std::string& key) const {
  const auto at = std::find_if(theirs_.begin(), theirs_.end(),
                               [&key](const Tally& tally) { return tally.key == key; });
  return static_cast<std::size_t>(at - theirs_.begin());
}

void Affinity::count(const NodeView& node) {
  for (const PodView* other : node.with_anti_affinity) {
    for (const AffinityTerm& term : other->anti_affinity()) {
      if (!term.matches(*pod_.pod, cluster_.namespaces())) continue;
      const std::size_t index = index_of(term.topology_key);
      if (index == theirs_.size()) theirs_.emplace_back(cluster_, term.topology_key);
      theirs_[index].add(node);
    }
  }
  if (!pod_.terms) return;
  for (const PodRef& other : node.pods) {
    if (wanted(*other)) {
      for (Tally& tally : wanted_) tally.add(node);
    }
    for (std::size_t i = 0; i < unwanted_.size(); ++i) {
      const AffinityTerm& term = pod_.anti_affinity()[i];
      if (term.matches(*other->pod, cluster_.namespaces())) unwanted_[i].add(node);
    }
  }
}

FitStatus Affinity::change(const NodeView& node, const PodView& pod, int by,
                           std::span<int> slots) const {
  std::size_t slot = 0;
  const bool counts = wanted(pod);
  for (const Tally& tally : wanted_) {
    slots[slot++] += counts && tally.domains.of(node) != Domains::none ? by : 0;
  }
  for (const AffinityTerm& term : pod_.anti_affinity()) {
    slots[slot++] += term.matches(*pod.pod, cluster_.namespaces()) ? by : 0;
  }
  for (const AffinityTerm& term : pod.anti_affinity()) {
    const bool meant =
        node.labels().has(term.topology_key) && term.matches(*pod_.pod, cluster_.namespaces());
    slots[slot + index_of(term.topology_key)] += meant ? by : 0;
  }
  return {};
}

bool Affinity::wanted_nearby(const NodeView& node, std::span<const int> slots) const {
  bool nearby = true;
  int anywhere = 0;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (wanted_[i].domains.of(node) == Domains::none) return false;
    nearby = nearby && wanted_[i].at(node, slots[i]) > 0;
    anywhere += wanted_[i].total + slots[i];
  }
  // The first pod of a group whose pods require each other may go to any node.
  return nearby || (anywhere == 0 && wanted(pod_));
}

FitStatus Affinity::check(const Trial& trial, std::span<const int> slots) const {
  const NodeView& node = trial.node();
  if (!wanted_.empty() && !wanted_nearby(node, slots)) {
    return reject(Code::unresolvable, std::string(reason_pod_affinity));
  }
  std::size_t slot = wanted_.size();
  for (const Tally& tally : unwanted_) {
    if (tally.at(node, slots[slot++]) > 0) {
      return reject(Code::unschedulable, std::string(reason_pod_anti_affinity));
    }
  }
  bool met = slots.back() > 0;
  for (const Tally& tally : theirs_) met = met || tally.at(node, slots[slot++]) > 0;
  if (met) return reject(Code::unschedulable, std::string(reason_existing_anti_affinity));
  return {};
}

}  // namespace

Plugin inter_pod_affinity() {
  return {plugin_pod_affinity, [](const Cluster& cluster, const PodView& pod) {
            if (cluster.anti_affinity_pods() == 0 && !pod.terms) return Prepared{nullptr, {}};
            return Prepared{std::make_unique<Affinity>(cluster, pod), {}};
          }};
}

}  // namespace holdfast::sync::schedule
