#include "test/unit/sync/schedule/cluster_fixture.h"

#include <algorithm>

#include "test/unit/sync/schedule/storage_fixture.h"

namespace holdfast::sync::schedule::test {
namespace {

PodAffinity& anti_affinity_of(Pod& pod) {
  if (!pod.spec.affinity) pod.spec.affinity = Affinity{};
  auto& part = pod.spec.affinity->pod_anti_affinity;
  return part ? *part : part.emplace();
}

template <class T>
void shuffle_all(std::vector<T>& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random.below(i)]);
  }
}

std::string letter(Random& random) { return random.below(2) == 0 ? "a" : "b"; }

Pod random_pod(const std::string& name, const std::string& node, Random& random) {
  constexpr int priorities[] = {-5, 0, 0, 10, 100, 2000};
  Pod pod = make_pod(name, priorities[random.below(6)],
                     std::to_string(100 + random.below(16) * 100), node);
  pod.metadata.labels.set("app", letter(random));
  if (random.below(3) > 0) {
    pod.status.start_time = wall_now - std::chrono::seconds(random.below(5));
  }
  if (random.below(6) == 0) pod.spec.containers[0].ports = {{"", 8080, 80, "TCP", "", {}}};
  if (random.below(8) == 0) add_anti_affinity(pod, term("app", letter(random), "host"));
  if (random.below(20) == 0) pod.metadata.deletion_timestamp = wall_now;
  if (random.below(4) == 0) use_claim(pod, "c" + std::to_string(random.below(4)));
  return pod;
}

// The claims c0 to c3 with volumes of one driver. Only one pod may use c0, but several do at times.
std::shared_ptr<StorageFixture> random_storage(const std::vector<Node>& nodes, Random& random) {
  auto storage = std::make_shared<StorageFixture>();
  for (int i = 0; i < 4; ++i) {
    const std::string name = "c" + std::to_string(i);
    storage->claims.push_back(bound_claim(name, "pv-" + name));
    storage->volumes.push_back(make_volume("pv-" + name));
    storage->volumes.back().spec.csi = CsiPersistentVolumeSource{"csi.example.com", name, {}};
  }
  storage->claims[0].spec.access_modes = {"ReadWriteOncePod"};
  if (random.below(3) == 0) keep_on(storage->volumes[1], "n0");
  for (const Node& node : nodes) {
    if (random.below(2) > 0) continue;
    const int limit = 1 + static_cast<int>(random.below(2));
    storage->csi_nodes.push_back(make_csi_node(node.metadata.name, limit));
  }
  return storage;
}

}  // namespace

Node make_node(const std::string& name, int cores, int gibibytes) {
  Node node;
  node.metadata.name = name;
  node.metadata.labels.set("host", name);
  node.status.allocatable = {{"cpu", std::to_string(cores)},
                             {"memory", std::to_string(gibibytes) + "Gi"},
                             {"pods", "110"}};
  return node;
}

Pod make_pod(const std::string& name, int priority, const std::string& milli_cpu,
             const std::string& node) {
  Pod pod;
  pod.metadata.name = name;
  pod.metadata.namespace_name = "default";
  pod.metadata.uid = "uid-" + name;
  pod.spec.priority = priority;
  pod.spec.node_name = node;
  pod.spec.scheduler_name = "holdfast-scheduler";
  Container container;
  container.name = "c";
  container.resources.requests.set("cpu", milli_cpu + "m");
  pod.spec.containers.push_back(std::move(container));
  return pod;
}

PodAffinityTerm term(const std::string& label, const std::string& value,
                     const std::string& topology_key) {
  PodAffinityTerm out;
  out.label_selector.emplace().match_labels.set(label, value);
  out.topology_key = topology_key;
  return out;
}

void add_anti_affinity(Pod& pod, const PodAffinityTerm& term) {
  anti_affinity_of(pod).required.push_back(term);
}

void add_affinity(Pod& pod, const PodAffinityTerm& term) {
  if (!pod.spec.affinity) pod.spec.affinity = Affinity{};
  auto& part = pod.spec.affinity->pod_affinity;
  if (!part) part.emplace();
  part->required.push_back(term);
}

void add_spread(Pod& pod, const std::string& topology_key, const std::string& label,
                const std::string& value) {
  TopologySpreadConstraint constraint;
  constraint.max_skew = 1;
  constraint.topology_key = topology_key;
  constraint.when_unsatisfiable = "DoNotSchedule";
  constraint.label_selector.emplace().match_labels.set(label, value);
  pod.spec.topology_spread_constraints.push_back(std::move(constraint));
}

PodDisruptionBudget make_budget(const std::string& name, const std::string& label,
                                const std::string& value, int allowed) {
  PodDisruptionBudget budget;
  budget.metadata.name = name;
  budget.metadata.namespace_name = "default";
  budget.spec.selector.emplace().match_labels.set(label, value);
  budget.status.disruptions_allowed = allowed;
  return budget;
}

void ClusterFixture::fill(Cluster& cluster) const {
  for (const Pod& pod : pods) cluster.set_pod(view_of(pod, cluster.symbols()));
  for (const Node& node : nodes) cluster.set_node(node);
  (storage ? *storage : StorageFixture()).fill(cluster);
}

void ClusterFixture::shuffle(Random& random) {
  shuffle_all(nodes, random);
  shuffle_all(pods, random);
  shuffle_all(budgets, random);
}

ClusterFixture random_cluster(Random& random) {
  ClusterFixture cluster_fixture;
  const std::size_t nodes = 1 + random.below(6);
  for (std::size_t n = 0; n < nodes; ++n) {
    const std::string name = "n" + std::to_string(n);
    cluster_fixture.nodes.push_back(make_node(name, static_cast<int>(1 + random.below(4))));
    cluster_fixture.nodes.back().metadata.labels.set("zone", letter(random));
    const std::size_t pods = random.below(7);
    for (std::size_t p = 0; p < pods; ++p) {
      cluster_fixture.pods.push_back(random_pod(name + "-p" + std::to_string(p), name, random));
    }
  }
  for (const char* app : {"a", "b"}) {
    if (random.below(2) == 0) {
      cluster_fixture.budgets.push_back(
          make_budget(app, "app", app, static_cast<int>(random.below(3)) - 1));
    }
  }
  cluster_fixture.incoming = random_pod("incoming", "", random);
  cluster_fixture.incoming.metadata.deletion_timestamp.reset();
  cluster_fixture.incoming.spec.priority = 1000;
  if (random.below(4) == 0) add_spread(cluster_fixture.incoming, "zone", "app", letter(random));
  if (random.below(6) == 0) add_spread(cluster_fixture.incoming, "host", "app", letter(random));
  cluster_fixture.storage = random_storage(cluster_fixture.nodes, random);
  return cluster_fixture;
}

std::vector<std::string> Result::victims() const {
  std::vector<std::string> names;
  if (!preemption.chosen) return names;
  for (const PodRef& victim : preemption.chosen->victims) names.push_back(victim->name());
  return names;
}

Result run(const ClusterFixture& cluster_fixture, std::uint64_t seed) {
  Cluster cluster;
  cluster_fixture.fill(cluster);
  const PodRef pod = view_of(cluster_fixture.incoming, cluster.symbols());
  const Nominator nominator;
  const Budgets budgets(cluster_fixture.budgets);
  Random random(seed);
  Finder finder(plugins());
  Attempt attempt = finder.find(cluster, nominator, *pod, random);
  Result result;
  if (attempt.node != nullptr) {
    result.node = attempt.node->name();
    return result;
  }
  result.message = attempt.fit_status.message();
  if (!attempt.diagnosis) return result;
  Preemption preemption(pod, {});
  preemption.start({cluster, nominator, budgets, finder.plugins()}, attempt.diagnosis->fit_statuses,
                   wall_now, random);
  result.preemption = *preemption.outcome();
  return result;
}

Fits::Fits(const ClusterFixture& cluster_fixture) : cluster_fixture_(cluster_fixture) {
  cluster_fixture.fill(cluster_);
  incoming_ = view_of(cluster_fixture.incoming, cluster_.symbols());
}

FitStatus Fits::on(const std::string& node, const std::vector<std::string>& without) {
  std::vector<const Pod*> gone;
  for (const Pod& pod : cluster_fixture_.pods) {
    if (std::find(without.begin(), without.end(), pod.metadata.name) != without.end()) {
      gone.push_back(&pod);
    }
  }
  for (const Pod* pod : gone) cluster_.remove_pod(pod->metadata.uid);
  FitStatus fit_status = now(node);
  for (const Pod* pod : gone) cluster_.set_pod(view_of(*pod, cluster_.symbols()));
  return fit_status;
}

FitStatus Fits::now(const std::string& node) const {
  const auto all = plugins();
  const Chain chain(all, cluster_, *incoming_);
  if (!chain.prepared().ok()) return chain.prepared();
  Trial trial(chain);
  trial.start(*cluster_.find(node));
  return chain.check(trial);
}

FitStatus fits(const ClusterFixture& cluster_fixture, const std::string& node) {
  return Fits(cluster_fixture).on(node, {});
}

}  // namespace holdfast::sync::schedule::test
