#include <cstdio>

#include "platform/loop/timer.h"
#include "platform/random.h"
#include "test/bench/bench_processes.h"
#include "test/bench/edge_bench.h"
#include "test/bench/table.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

// 50 MB, which gzip halves.
constexpr int objects = 500;
constexpr std::size_t object_bytes = 100'000;
const std::string maps_path = "/api/v1/namespaces/default/configmaps";

struct ListTimes {
  Duration first{};
  Duration whole{};

  [[nodiscard]] std::string text() const {
    return milliseconds(first) + " / " + milliseconds(whole) + " ms";
  }
};

asio::awaitable<Result<ListTimes>> list(http::Endpoint endpoint, std::string target) {
  http::Client client(std::move(endpoint));
  const MonoTime began = SystemClock().mono();
  ListTimes times;
  http::Request request{.target = std::move(target)};
  CO_TRY(const http::Response answer, co_await client.open(std::move(request), began + 60s));
  if (answer.status != 200) co_return fail(Errc::unavailable, answer.body);
  std::size_t bytes = answer.body.size();
  while (answer.stream) {
    CO_TRY(const std::string piece, co_await answer.stream->next());
    if (times.first == Duration{}) times.first = SystemClock().mono() - began;
    if (piece.empty()) break;
    bytes += piece.size();
  }
  times.whole = SystemClock().mono() - began;
  if (!answer.stream) times.first = times.whole;
  if (bytes < objects * object_bytes) {
    co_return fail(Errc::corrupt, "a list of " + std::to_string(bytes) + " bytes");
  }
  co_return times;
}

std::string ratio(const ListTimes& part, const ListTimes& whole) {
  char text[32];
  (void)std::snprintf(
      text, sizeof text, "%.2f x",
      static_cast<double>(part.whole.count()) / static_cast<double>(whole.whole.count()));
  return text;
}

asio::awaitable<Status> fill(BenchProcesses& processes) {
  Random random(1);
  Status done;
  for (int number = 0; done && number < objects; ++number) {
    const std::string value = random.text(object_bytes, "0123456789abcdef");
    done = co_await processes.create(
        maps_path, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large-)" +
                       std::to_string(number) + R"("},"data":{"value":")" + value + "\"}}");
  }
  co_return done;
}

// The agent lists it in pages after the first client has asked for it.
asio::awaitable<Status> wait_until_kept(BenchProcesses& processes) {
  const MonoTime deadline = SystemClock().mono() + 60s;
  for (;;) {
    CO_TRY(const std::string scopes, co_await processes.admin("/v1/scopes"));
    const std::size_t at = scopes.find(maps_path);
    const std::string_view scope = std::string_view(scopes).substr(std::min(at, scopes.size()));
    Status done;
    if (scope.substr(0, scope.find('}')).find(R"("complete":true)") != scope.npos) co_return done;
    if (SystemClock().mono() >= deadline) {
      co_return fail(Errc::timeout, "the list was not cached: " + scopes);
    }
    co_await loop::wait_for(100ms);
  }
}

}  // namespace

asio::awaitable<Status> measure_large_list(BenchProcesses& processes) {
  Status done = co_await processes.start(0);
  if (done) done = co_await fill(processes);
  if (!done) co_return done;
  const std::string cached = maps_path + "?resourceVersion=0";
  CO_TRY(const ListTimes direct, co_await list(processes.server(), maps_path));
  // The agent begins to list it for itself meanwhile.
  CO_TRY(const ListTimes at_first, co_await list(processes.agent().endpoint(), maps_path));
  done = co_await wait_until_kept(processes);
  if (!done) co_return done;
  CO_TRY(const ListTimes through, co_await list(processes.agent().endpoint(), maps_path));
  print("LIST 50 MB, direct: first byte / whole", direct.text(), "", "");
  print("LIST 50 MB, through the agent, for the first time", at_first.text(), "", "");
  print("LIST 50 MB, through the agent, then", through.text(), "first: 50 ms more", "");
  print("LIST 50 MB, ratio of the whole", ratio(through, direct), "1.5 x", "");
  processes.kill_server();
  CO_TRY(const ListTimes offline, co_await list(processes.agent().endpoint(), cached));
  print("LIST 50 MB, offline, from the disk", offline.text(), "", "");
  CO_TRY(const std::int64_t peak, processes.peak_memory());
  print("memory of the agent, at its peak", std::to_string(peak / 1024) + " MiB RSS", "64 MB", "");
  processes.kill_agent();
  const MonoTime restarted = SystemClock().mono();
  done = co_await processes.restart_agent();
  if (!done) co_return done;
  print("start, offline, with 50 MB on disk",
        milliseconds(SystemClock().mono() - restarted) + " ms", "1 s", "");
  CO_TRY(const ListTimes again, co_await list(processes.agent().endpoint(), cached));
  print("LIST 50 MB, then", again.text(), "", "");
  co_return done;
}

}  // namespace holdfast::bench
