// The rules of the lifecycle controller: the cost of each kind of change, and the memory of each
// node and pod.

#include <benchmark/benchmark.h>

#include <memory>

#include "test/bench/memory.h"
#include "test/cost/cluster.h"

namespace holdfast::bench {
namespace {

using cost::Cluster;

void lease_renewal(benchmark::State& state) {
  Cluster cluster(static_cast<int>(state.range(0)), 0);
  for (auto _ : state) cluster.renew();
}
BENCHMARK(lease_renewal)->Arg(1000)->Arg(100'000);

// Budget: 1 ms.
void pass_with_nothing_due(benchmark::State& state) {
  constexpr Duration longer_than_we_run = std::chrono::hours(1'000'000);
  Cluster cluster(static_cast<int>(state.range(0)), 0, longer_than_we_run);
  for (auto _ : state) cluster.pass();
}
BENCHMARK(pass_with_nothing_due)->Arg(100'000)->Unit(benchmark::kMicrosecond);

void pod_update(benchmark::State& state) {
  Cluster cluster(1000, static_cast<int>(state.range(0)));
  for (auto _ : state) cluster.update_pod();
}
BENCHMARK(pod_update)->Arg(100'000);

void memory_of_a_node(benchmark::State& state) {
  constexpr int count = 100'000;
  std::int64_t bytes = 0;
  for (auto _ : state) {
    const std::int64_t before = bytes_in_use();
    const auto cluster = std::make_unique<Cluster>(count, 0);
    bytes = bytes_in_use() - before;
  }
  state.counters["bytes"] = static_cast<double>(bytes / count);
}
BENCHMARK(memory_of_a_node)->Iterations(1);

void memory_of_a_pod(benchmark::State& state) {
  constexpr int count = 100'000;
  std::int64_t bytes = 0;
  for (auto _ : state) {
    const std::int64_t empty = bytes_in_use();
    auto cluster = std::make_unique<Cluster>(1000, 0);
    const std::int64_t nodes = bytes_in_use() - empty;
    cluster.reset();
    const std::int64_t before = bytes_in_use();
    cluster = std::make_unique<Cluster>(1000, count);
    bytes = bytes_in_use() - before - nodes;
  }
  state.counters["bytes"] = static_cast<double>(bytes / count);
}
BENCHMARK(memory_of_a_pod)->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
