// holdfast-bench [edge | rules | scheduler | controller]: the agent's figures beside the budgets
// and beside YurtHub's (kube-apiserver 1.20.2 as the server, so there the ratio counts), then the
// pure rules. With "edge" only the former, with "rules" only the latter, with "scheduler" only the
// scheduler's of them and holdfast-cloud's before the lab's API server, with "controller" the
// figures of holdfast-cloud instead.

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
  holdfast::set_log_level(holdfast::LogLevel::warn);
  const bool of_controller = argc > 1 && std::string_view(argv[1]) == "controller";
  if (of_controller) return holdfast::loop::run(holdfast::bench::measure_controller);
  const bool scheduler_only = argc > 1 && std::string_view(argv[1]) == "scheduler";
  const bool rules_only = scheduler_only || (argc > 1 && std::string_view(argv[1]) == "rules");
  if (!rules_only) {
    const int failed = holdfast::loop::run(holdfast::bench::processes);
    if (failed != 0) return failed;
    holdfast::bench::measure_idle_hour();
  }
  if (argc > 1 && std::string_view(argv[1]) == "edge") return 0;
  const int scheduled =
      scheduler_only ? holdfast::loop::run(holdfast::bench::measure_scheduler) : 0;
  (void)std::printf("\n");
  benchmark::Initialize(&argc, argv);
  const std::string filter = scheduler_only ? "^schedule_" : benchmark::GetBenchmarkFilter();
  benchmark::RunSpecifiedBenchmarks(filter);
  return scheduled;
}
