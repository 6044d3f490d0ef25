// holdfast-bench [edge | rules | scheduler | controller]
// holdfast-bench apiserver KUBECONFIG PID...
//
// Without an argument: the edge agent's figures next to its budgets and to YurtHub's (measured with
// kube-apiserver 1.20.2, so only the ratios compare), then the benchmarks of the pure rules. edge
// and rules select one of the two parts. scheduler: holdfast-cloud's scheduler with the lab's API
// server, then the rules of scheduling. controller: the figures of holdfast-cloud's lifecycle
// controller. apiserver: the figures of a running API server as JSON, with the memory and CPU time
// of these processes; test/bench/lab.py starts the servers.

#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "platform/log.h"
#include "platform/loop/program.h"
#include "platform/text.h"
#include "test/bench/controller_bench.h"
#include "test/bench/edge_bench.h"
#include "test/bench/scheduler_bench.h"
#include "test/bench/server_bench.h"
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

bool is_part(std::string_view word) {
  return word == "edge" || word == "rules" || word == "scheduler" || word == "controller";
}

// Measures one part; the edge agent and the rules if `part` is empty.
int measure(std::string_view part, const Clock& clock) {
  if (part == "controller") return loop::run(clock, measure_controller);
  if (part.empty() || part == "edge") {
    if (const int failed = loop::run(clock, processes); failed != 0) return failed;
    measure_idle_hour();
  }
  if (part == "edge") return 0;
  const bool of_scheduler = part == "scheduler";
  const int scheduled = of_scheduler ? loop::run(clock, measure_scheduler) : 0;
  (void)std::printf("\n");
  const std::string filter = of_scheduler ? "^schedule_" : benchmark::GetBenchmarkFilter();
  benchmark::RunSpecifiedBenchmarks(filter);
  return scheduled;
}

int usage(const char* problem) {
  (void)std::fprintf(stderr,
                     "holdfast-bench: unknown argument: %s\n"
                     "usage: holdfast-bench [edge | rules | scheduler | controller] "
                     "[--benchmark_filter=...]\n"
                     "       holdfast-bench apiserver KUBECONFIG PID...\n",
                     problem);
  return 2;
}

// `arguments`: a kubeconfig and process ids.
int measure_api_server(const std::vector<std::string>& arguments, const Clock& clock) {
  ServerBenchSettings settings{.kubeconfig = arguments.front()};
  for (std::size_t at = 1; at < arguments.size(); ++at) {
    const auto pid = parse_int<int>(arguments[at]);
    if (!pid) return usage(arguments[at].c_str());
    settings.pids.push_back(*pid);
  }
  return loop::run(clock, [&settings](loop::Stop&) { return measure_server(settings); });
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
  const holdfast::SystemClock clock;
  holdfast::set_log_level(holdfast::LogLevel::warn);
  benchmark::Initialize(&argc, argv);  // removes its own flags
  const std::string_view part = argc > 1 ? argv[1] : "";
  if (part == "apiserver" && argc > 3) {
    return holdfast::bench::measure_api_server({argv + 2, argv + argc}, clock);
  }
  if (argc > 2 || (argc > 1 && !holdfast::bench::is_part(part))) {
    return holdfast::bench::usage(argv[argc - 1]);
  }
  return holdfast::bench::measure(part, clock);
}
