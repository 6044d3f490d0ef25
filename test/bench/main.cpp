// holdfast-bench [rules | scheduler | controller]: the agent's latencies and memory beside the
// budgets and beside YurtHub's figures (kube-apiserver 1.20.2 as the server, so there the ratio
// counts), then the pure rules. With "rules" only those, with "scheduler" only the scheduler's of
// them, with "controller" the figures of holdfast-cloud instead.

#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "platform/log.h"
#include "platform/loop/program.h"
#include "platform/loop/timer.h"
#include "test/bench/controller_bench.h"
#include "test/bench/scene.h"
#include "test/bench/table.h"
#include "test/bench/watches_bench.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr int rounds = 2000;
constexpr int pods = 110;
const std::string node_path = "/api/v1/nodes/bench";
const std::string pods_path = "/api/v1/pods?fieldSelector=spec.nodeName%3Dbench";

std::string ratio(const Latency& part, const Latency& whole) {
  const auto of = [](const Latency& latency) {
    return static_cast<double>(latency.percentile(0.5).count());
  };
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.2f x", of(part) / of(whole));
  return text;
}

asio::awaitable<Status> measure(Scene& scene) {
  Status done = co_await scene.start(pods);
  if (done) done = co_await scene.wait_for_agent(node_path, loop::BootClock::now() + 10s);
  if (done) done = co_await scene.wait_for_agent(pods_path, loop::BootClock::now() + 10s);
  if (!done) co_return done;
  print("what (p50 / p99)", "holdfast", "budget", "YurtHub v0.6.0");
  CO_TRY(const Latency direct, co_await scene.ask_server(node_path, rounds));
  CO_TRY(const Latency through, co_await scene.ask_agent(node_path, rounds));
  print("GET one node, direct", direct.text(), "", "1.85 to 2.36 / 10 to 13 ms");
  print("GET one node, through the agent", through.text(), "", "4.5 to 4.9 / 16 to 19 ms");
  print("the same, as a ratio of the medians", ratio(through, direct), "1.15 x", "2.1 to 2.4 x");
  CO_TRY(const std::int64_t memory, scene.memory());
  print("memory of the agent, 110 pods cached", std::to_string(memory / 1024) + " MiB PSS", "20 MB",
        "43 to 50 MB RSS (2 pods)");

  scene.kill_server();
  const MonoTime killed = loop::BootClock::now();
  done = co_await scene.wait_for_agent(node_path, killed + 10s);
  if (!done) co_return done;
  print("server killed: time to the first answer",
        milliseconds(loop::BootClock::now() - killed) + " ms", "3 s", "at once");
  CO_TRY(const Latency offline, co_await scene.ask_agent(node_path, rounds));
  CO_TRY(const Latency list, co_await scene.ask_agent(pods_path, rounds / 4));
  print("GET one node, offline", offline.text(), "0.15 / 1 ms", "0.51 ms");
  print("LIST 110 pods, offline", list.text(), "10 ms", "0.93 ms (2 pods)");

  scene.kill_agent();
  const MonoTime restarted = loop::BootClock::now();
  done = co_await scene.restart_agent();
  if (done) done = co_await scene.wait_for_agent(pods_path, restarted + 10s);
  if (!done) co_return done;
  print("start to first answer, offline, 110 pods",
        milliseconds(loop::BootClock::now() - restarted) + " ms", "100 ms", "");
  co_return done;
}

asio::awaitable<int> processes(loop::Stop&) {
  std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-bench-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) co_return 1;
  std::error_code ignored;
  const std::filesystem::path data(pattern);
  std::filesystem::create_directory(data / "reads", ignored);
  std::filesystem::create_directory(data / "watches", ignored);
  Scene scene(data / "reads");
  Status measured = co_await measure(scene);
  co_await scene.end();
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
  const int failed = rules_only ? 0 : holdfast::loop::run(holdfast::bench::processes);
  if (failed != 0) return failed;
  (void)std::printf("\n");
  benchmark::Initialize(&argc, argv);
  const std::string filter = scheduler_only ? "^schedule_" : benchmark::GetBenchmarkFilter();
  benchmark::RunSpecifiedBenchmarks(filter);
  return 0;
}
