// The scheduler's rules at the size of a large cluster: placing pods, dry runs, memory.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/loop/workers.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/preemption/dry_run.h"
#include "sync/schedule/queue/queue.h"
#include "test/bench/memory.h"

namespace holdfast::bench {
namespace {

namespace schedule = sync::schedule;
using sync::Node;
using sync::Pod;

constexpr WallTime now{std::chrono::seconds(1'800'000'000)};

Node make_node(int number) {
  Node node;
  node.metadata.name = "node-" + std::to_string(10'000 + number);
  node.metadata.labels = {{"kubernetes.io/hostname", node.metadata.name},
                          {"topology.kubernetes.io/zone", "zone-" + std::to_string(number % 3)}};
  node.status.allocatable = {{"cpu", "32"}, {"memory", "128Gi"}, {"pods", "110"}};
  return node;
}

Pod make_pod(const std::string& name, int priority, const std::string& node) {
  Pod pod;
  pod.metadata.name = name;
  pod.metadata.namespace_name = "default";
  pod.metadata.uid = "5f0c9d3e-0000-4000-8000-" + name;
  pod.metadata.labels = {{"app", "web"}, {"pod-template-hash", "abcdef"}};
  pod.spec.node_name = node;
  pod.spec.priority = priority;
  pod.status.start_time = now;
  sync::Container container;
  container.name = "main";
  container.image = "registry.example.com/team/web:1.2.3";
  container.resources.requests = {{"cpu", "500m"}, {"memory", "1Gi"}};
  pod.spec.containers.push_back(std::move(container));
  pod.spec.tolerations = {{"node.kubernetes.io/not-ready", "Exists", "", "NoExecute", 300, {}},
                          {"node.kubernetes.io/unreachable", "Exists", "", "NoExecute", 300, {}}};
  return pod;
}

// Adds `nodes` nodes and `count` pods, evenly spread.
void fill(schedule::Cluster& cluster, int nodes, int count) {
  for (int i = 0; i < nodes; ++i) cluster.set_node(make_node(i));
  for (int i = 0; i < count; ++i) {
    const std::string node = "node-" + std::to_string(10'000 + i % nodes);
    cluster.set_pod(
        schedule::view_of(make_pod("old-" + std::to_string(i), 0, node), cluster.symbols()));
  }
}

using Shape = void (*)(Pod&);
void plain(Pod&) {}
void spread(Pod& pod) {
  sync::TopologySpreadConstraint constraint;
  constraint.max_skew = 5;
  constraint.topology_key = "topology.kubernetes.io/zone";
  constraint.when_unsatisfiable = "DoNotSchedule";
  constraint.label_selector.emplace().match_labels.set("app", "web");
  pod.spec.topology_spread_constraints.push_back(constraint);
}

// Places 10,000 pods one after another in a cluster of 5,000 nodes and 100,000 pods.
void schedule_pods(benchmark::State& state, Shape shape, int pods) {
  constexpr int nodes = 5000;
  for (auto _ : state) {
    state.PauseTiming();
    schedule::Cluster cluster;
    fill(cluster, nodes, 100'000);
    std::vector<Pod> waiting;
    for (int i = 0; i < pods; ++i) {
      waiting.push_back(make_pod("new-" + std::to_string(i), 0, ""));
      shape(waiting.back());
    }
    (void)cluster.nodes();
    schedule::Finder finder(schedule::plugins());
    const schedule::Nominator nominator;
    Random random(1);
    std::vector<double> micros;
    state.ResumeTiming();
    for (Pod& pod : waiting) {
      const auto began = std::chrono::high_resolution_clock::now();
      const auto view = schedule::view_of(pod, cluster.symbols());
      const auto attempt = finder.find(cluster, nominator, *view, random);
      if (attempt.node == nullptr) return state.SkipWithError("no node would do");
      pod.spec.node_name = attempt.node->name();
      cluster.set_pod(schedule::view_of(std::move(pod), cluster.symbols()));
      const auto took = std::chrono::high_resolution_clock::now() - began;
      micros.push_back(std::chrono::duration<double, std::micro>(took).count());
    }
    state.PauseTiming();
    std::sort(micros.begin(), micros.end());
    state.counters["p99_us"] = micros[micros.size() * 99 / 100];
    state.ResumeTiming();
  }
  state.counters["pods/s"] =
      benchmark::Counter(pods, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(schedule_pods, plain, plain, 10'000)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(schedule_pods, spread_over_zones, spread, 200)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

// A pod that fits nowhere: the filters run for every one of 5,000 nodes.
void schedule_unfit(benchmark::State& state) {
  schedule::Cluster cluster;
  fill(cluster, 5000, 100'000);
  Pod pod = make_pod("big", 0, "");
  pod.spec.containers[0].resources.requests.set("cpu", "30");
  const auto view = schedule::view_of(pod, cluster.symbols());
  schedule::Finder finder(schedule::plugins());
  const schedule::Nominator nominator;
  Random random(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(finder.find(cluster, nominator, *view, random));
  }
}
BENCHMARK(schedule_unfit)->Unit(benchmark::kMillisecond);

// A dry run of preemption on 1,000 nodes with 50 pods each, with a disruption budget over all pods.
// The argument is the number of threads. Budget on two cores: 50 ms.
void schedule_dry_run(benchmark::State& state) {
  boost::asio::io_context context;
  loop::Workers workers(context.get_executor(), static_cast<std::size_t>(state.range(0)) - 1);
  const schedule::ForEach for_each = [&workers](std::size_t count, const auto& work) {
    workers.for_each(count, work);
  };
  constexpr int nodes = 1000;
  schedule::Cluster cluster;
  fill(cluster, nodes, nodes * 50);
  Pod pod = make_pod("important", 1000, "");
  pod.spec.containers[0].resources.requests.set("cpu", "24");
  const auto view = schedule::view_of(pod, cluster.symbols());
  sync::PodDisruptionBudget budget;
  budget.metadata.namespace_name = "default";
  budget.spec.selector.emplace().match_labels.set("app", "web");
  budget.status.disruptions_allowed = 10;
  const schedule::Budgets budgets({budget});
  const schedule::Nominator nominator;
  const auto plugins = schedule::plugins();
  for (auto _ : state) {
    const schedule::Chain chain(plugins, cluster, *view);
    const schedule::DryRunView view_of_all{chain, nominator, budgets, now};
    schedule::VictimSearch search(chain, nominator, budgets, now);
    const auto run = state.range(0) == 1
                         ? schedule::dry_run(search, cluster.nodes(), 0, nodes)
                         : schedule::dry_run(view_of_all, cluster.nodes(), 0, nodes, for_each);
    if (run.evaluated != nodes) return state.SkipWithError("not all nodes were tried");
    state.counters["candidates"] = static_cast<double>(run.candidates.size());
    const auto scores = schedule::default_scores(now);
    benchmark::DoNotOptimize(schedule::choose(run.candidates, scores));
  }
}
BENCHMARK(schedule_dry_run)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

// A pod is deleted while 10,000 pods wait for room.
void schedule_event(benchmark::State& state) {
  sync::schedule::Symbols symbols;
  const schedule::PluginHints hints(symbols);
  MonoTime time{std::chrono::hours(1)};
  schedule::Queue queue(hints, nullptr, {}, time);
  for (int i = 0; i < 10'000; ++i) {
    const auto pod = schedule::view_of(make_pod(std::to_string(i), 0, ""), symbols);
    queue.add(time, pod);
    (void)queue.pop();
    (void)queue.requeue(time, pod, {"TaintToleration"}, {});
  }
  const schedule::Event event = schedule::node_added(std::make_shared<const Node>([] {
    Node node = make_node(1);
    node.spec.taints.push_back({"k", "v", "NoSchedule", {}, {}});
    return node;
  }()));
  for (auto _ : state) queue.happened(time, event);
}
BENCHMARK(schedule_event)->Unit(benchmark::kMicrosecond);

void schedule_memory(benchmark::State& state) {
  constexpr int nodes = 5000;
  constexpr int pods = 100'000;
  for (auto _ : state) {
    const std::int64_t before = bytes_in_use();
    auto cluster = std::make_unique<schedule::Cluster>();
    fill(*cluster, nodes, 0);
    const std::int64_t with_nodes = bytes_in_use();
    cluster.reset();
    const std::int64_t empty = bytes_in_use();
    cluster = std::make_unique<schedule::Cluster>();
    fill(*cluster, nodes, pods);
    const std::int64_t all = bytes_in_use() - empty;
    state.counters["bytes/node"] = static_cast<double>((with_nodes - before) / nodes);
    state.counters["bytes/pod"] = static_cast<double>((all - (with_nodes - before)) / pods);
  }
}
BENCHMARK(schedule_memory)->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
