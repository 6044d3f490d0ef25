#include "test/bench/edge_bench.h"

#include <cstdio>

#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "test/bench/bench_processes.h"
#include "test/bench/table.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr int rounds = 2000;
constexpr int pods = 110;
constexpr int callers = 50;
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

// The lab's server answers within hundredths of a millisecond, which no real cluster does. So this
// relates the time that the agent adds to the time that kube-apiserver took where YurtHub was
// measured.
std::string ratio_to_real(const Latency& direct, const Latency& through) {
  constexpr Duration real = 1850us;  // p50
  const Duration added = through.percentile(0.5) - direct.percentile(0.5);
  char text[48];
  (void)std::snprintf(text, sizeof text, "%s ms, %.2f x", milliseconds(added).c_str(),
                      1 + static_cast<double>(added.count()) / static_cast<double>(real.count()));
  return text;
}

std::string mib(std::int64_t kib) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.1f MiB PSS", static_cast<double>(kib) / 1024);
  return text;
}

// A client that sends requests at a fixed pace; their durations go into `latency`.
asio::awaitable<void> call_often(http::Endpoint agent, Duration pace, int times, Latency& latency,
                                 int& failed) {
  http::Client client(std::move(agent));
  MonoTime next = SystemClock().mono();
  for (int i = 0; i < times; ++i) {
    co_await loop::sleep_until(next);
    const auto asked = co_await BenchProcesses::ask(client, node_path, 1);
    if (asked) {
      // Counts from when the request was due, so that waiting behind earlier requests is included.
      latency.add(SystemClock().mono() - next);
    } else {
      ++failed;
    }
    next += pace;
  }
}

asio::awaitable<Status> measure_load(BenchProcesses& processes) {
  constexpr int each = 200;
  constexpr Duration pace = 25ms;  // 50 callers: 2,000 reads a second
  Latency latency;
  int failed = 0;
  loop::Tasks tasks(co_await asio::this_coro::executor);
  for (int caller = 0; caller < callers; ++caller) {
    http::Endpoint agent = processes.agent().endpoint();
    tasks.spawn("caller", call_often(std::move(agent), pace, each, latency, failed));
  }
  co_await tasks.join();
  print("2,000 reads a second from 50 connections", latency.text(), "p99 5 ms", "");
  Status done;
  if (failed > 0) done = fail(Errc::unavailable, std::to_string(failed) + " reads failed");
  co_return done;
}

// The server accepts connections but no longer answers.
asio::awaitable<Status> measure_black_hole(BenchProcesses& processes) {
  processes.freeze_server();
  const MonoTime frozen = SystemClock().mono();
  Status done = co_await processes.wait_for_agent(node_path, frozen + 10s);
  if (!done) co_return done;
  print("server stopped (black hole): time to the first answer",
        milliseconds(SystemClock().mono() - frozen) + " ms", "3 s", "most failed for 150 s");
  CO_TRY(const Latency then, co_await processes.ask_agent(node_path, rounds));
  print("then", then.text(), "50 ms", "");
  co_return done;
}

asio::awaitable<Status> measure_outage(BenchProcesses& processes) {
  const MonoTime killed = SystemClock().mono();
  processes.kill_server();
  Status done = co_await processes.wait_for_agent(node_path, killed + 10s);
  if (!done) co_return done;
  print("server killed: time to the first answer",
        milliseconds(SystemClock().mono() - killed) + " ms", "3 s", "at once");
  CO_TRY(const Latency offline, co_await processes.ask_agent(node_path, rounds));
  CO_TRY(const Latency list, co_await processes.ask_agent(pods_path, rounds / 4));
  print("GET one node, offline", offline.text(), "0.15 / 1 ms", "0.51 ms");
  print("LIST 110 pods, offline", list.text(), "10 ms", "0.93 ms (2 pods)");
  done = co_await measure_load(processes);
  if (!done) co_return done;

  processes.kill_agent();
  const MonoTime restarted = SystemClock().mono();
  done = co_await processes.restart_agent();
  if (done) done = co_await processes.wait_for_agent(pods_path, restarted + 10s);
  if (!done) co_return done;
  print("start to first answer, offline, 110 pods",
        milliseconds(SystemClock().mono() - restarted) + " ms", "100 ms", "");
  co_return done;
}

asio::awaitable<Status> measure_reads(BenchProcesses& processes) {
  Status done = co_await processes.start(pods);
  if (done) done = co_await processes.wait_for_agent(node_path, SystemClock().mono() + 10s);
  if (done) done = co_await processes.wait_for_agent(pods_path, SystemClock().mono() + 10s);
  if (!done) co_return done;
  CO_TRY(const Latency direct, co_await processes.ask_server(node_path, rounds));
  CO_TRY(const Latency through, co_await processes.ask_agent(node_path, rounds));
  print("GET one node, direct", direct.text(), "", "1.85 to 2.36 / 10 to 13 ms");
  print("GET one node, through the agent", through.text(), "", "4.5 to 4.9 / 16 to 19 ms");
  print("GET one node, ratio of the medians", ratio(through, direct), "", "");
  print("added by the agent; ratio to 1.85 ms direct", ratio_to_real(direct, through), "1.15 x",
        "2.1 to 2.4 x");
  CO_TRY(const std::int64_t memory, processes.memory());
  print("memory of the agent, 110 pods cached", mib(memory), "20 MB", "43 to 50 MB RSS (2 pods)");
  done = co_await measure_black_hole(processes);
  if (done) done = co_await measure_outage(processes);
  co_return done;
}

asio::awaitable<Status> measure_memory(BenchProcesses& processes, int count) {
  Status done = co_await processes.start(count);
  if (done && count > 0)
    done = co_await processes.wait_for_agent(pods_path, SystemClock().mono() + 10s);
  if (!done) co_return done;
  co_await loop::wait_for(1s);
  CO_TRY(const std::int64_t memory, processes.memory());
  const std::string what = count == 0 ? "idle" : std::to_string(count) + " pods cached";
  print("memory of the agent, " + what, mib(memory), "12 MB", "40 MB RSS");
  co_return done;
}

}  // namespace

asio::awaitable<Status> measure_edge(std::filesystem::path data) {
  print("what (p50 / p99)", "holdfast", "budget", "YurtHub v0.6.0");
  CO_TRY(const std::uintmax_t bytes, BenchProcesses::agent_binary());
  print("binary, stripped", std::to_string(bytes / 1024) + " KiB", "5 MB (arm64)", "53 MB");
  Status done;
  for (const int count : {0, 10}) {
    const std::filesystem::path folder = data / std::to_string(count);
    std::error_code ignored;
    std::filesystem::create_directory(folder, ignored);
    BenchProcesses processes(folder);
    done = co_await measure_memory(processes, count);
    co_await processes.end();
    if (!done) co_return done;
  }
  {
    BenchProcesses processes(data);
    done = co_await measure_reads(processes);
    co_await processes.end();
    if (!done) co_return done;
  }
  const std::filesystem::path folder = data / "large";
  std::error_code ignored;
  std::filesystem::create_directory(folder, ignored);
  BenchProcesses processes(folder);
  done = co_await measure_large_list(processes);
  co_await processes.end();
  co_return done;
}

}  // namespace holdfast::bench
