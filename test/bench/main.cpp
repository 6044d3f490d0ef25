// holdfast-bench [edge | rules | scheduler | controller]
//
// Without an argument: the edge agent's figures next to its budgets and to YurtHub's (measured with
// kube-apiserver 1.20.2, so only the ratios compare), then the benchmarks of the pure rules. edge
// and rules select one of the two parts. scheduler: holdfast-cloud's scheduler with the lab's API
// server, then the rules of scheduling. controller: the figures of holdfast-cloud's lifecycle
// controller.

#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "platform/log.h"
#include "platform/loop/program.h"
#include "test/bench/controller_bench.h"
#include "test/bench/edge_bench.h"
#include "test/bench/scheduler_bench.h"
#include "test/bench/watches_bench.h"

namespace holdfast::bench {
namespace {

boost::asio::awaitable<int> processes(loop::Stop&) {
  std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-bench-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) co_return 1;
  std::error_code ignored;
  const std::filesystem::path data(pattern);
  std::filesystem::create_directory(data / "reads", ignored);
  std::filesystem::create_directory(data / "watches", ignored);
  Status measured = co_await measure_edge(data / "reads");
  if (measured) measured = co_await measure_watches(data / "watches");
  std::filesystem::remove_all(pattern, ignored);
  if (measured) co_return 0;
  (void)std::fprintf(stderr, "holdfast-bench: %s\n", measured.error().what.c_str());
  co_return 1;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
  const holdfast::SystemClock clock;
  holdfast::set_log_level(holdfast::LogLevel::warn);
  const bool of_controller = argc > 1 && std::string_view(argv[1]) == "controller";
  if (of_controller) return holdfast::loop::run(clock, holdfast::bench::measure_controller);
  const bool scheduler_only = argc > 1 && std::string_view(argv[1]) == "scheduler";
  const bool rules_only = scheduler_only || (argc > 1 && std::string_view(argv[1]) == "rules");
  if (!rules_only) {
    const int failed = holdfast::loop::run(clock, holdfast::bench::processes);
    if (failed != 0) return failed;
    holdfast::bench::measure_idle_hour();
  }
  if (argc > 1 && std::string_view(argv[1]) == "edge") return 0;
  const int scheduled =
      scheduler_only ? holdfast::loop::run(clock, holdfast::bench::measure_scheduler) : 0;
  (void)std::printf("\n");
  benchmark::Initialize(&argc, argv);
  const std::string filter = scheduler_only ? "^schedule_" : benchmark::GetBenchmarkFilter();
  benchmark::RunSpecifiedBenchmarks(filter);
  return scheduled;
}
