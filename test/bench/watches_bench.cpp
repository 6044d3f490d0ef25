#include "test/bench/watches_bench.h"

#include <unistd.h>

#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "test/bench/bench_processes.h"
#include "test/bench/table.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr int watches = 250;
const std::string folder = "/api/v1/namespaces/default/";

std::string name_of(int number) { return "w-" + std::to_string(number); }
std::string kind_of(int number) { return number % 2 == 0 ? "secrets" : "configmaps"; }

std::string watch_of(int number) {
  return folder + kind_of(number) + "?watch=true&allowWatchBookmarks=true&resourceVersion=0" +
         "&fieldSelector=metadata.name%3D" + name_of(number);
}

struct Opened {
  std::vector<std::shared_ptr<http::BodyStream>> streams;
  std::string problem;
};

// Opens a watch and reads its first event.
asio::awaitable<void> open_into(http::Client& client, int number, Opened& into) {
  http::Request request{.target = watch_of(number)};
  request.headers.add("User-Agent", "kubelet/v1.30.0");
  const auto answer = co_await client.open(std::move(request), SystemClock().mono() + 30s);
  if (!answer || !answer->stream) {
    into.problem = answer ? answer->body : answer.error().what;
    co_return;
  }
  const auto event = co_await answer->stream->next();
  if (!event || event->empty()) into.problem = "a watch without its object";
  into.streams.push_back(answer->stream);
}

asio::awaitable<Status> open_all(http::Client& client, int from, int to, Opened& into) {
  loop::Tasks tasks(co_await asio::this_coro::executor);
  for (int number = from; number < to; ++number) {
    tasks.spawn("watch", open_into(client, number, into));
  }
  co_await tasks.join();
  Status done;
  if (!into.problem.empty()) done = fail(Errc::unavailable, into.problem);
  co_return done;
}

std::string kib(double value) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.1f KiB", value);
  return text;
}

// The memory that one more watch adds in a client, in KiB.
asio::awaitable<Result<double>> cost_of_one(http::Endpoint server, bool http2) {
  http::Client client(std::move(server), {.http2 = {.enabled = http2}});
  Opened opened;
  Status done = co_await open_all(client, 0, 1, opened);
  if (!done) co_return fail(done.error());
  CO_TRY(const std::int64_t before, memory_of(getpid()));
  done = co_await open_all(client, 1, watches, opened);
  if (!done) co_return fail(done.error());
  CO_TRY(const std::int64_t after, memory_of(getpid()));
  co_return static_cast<double>(after - before) / (watches - 1);
}

// Compares the latency of the same GET over TLS with both protocols.
asio::awaitable<Status> compare_latency(http::Endpoint server) {
  constexpr int rounds = 2000;
  const std::string target = "/api/v1/nodes/bench";
  http::Client shared(server);
  http::Client alone(server, {.http2 = {.enabled = false}});
  CO_TRY(const Latency newer, co_await BenchProcesses::ask(shared, target, rounds));
  CO_TRY(const Latency older, co_await BenchProcesses::ask(alone, target, rounds));
  print("GET one node over TLS, HTTP/2", newer.text(), "", "");
  print("GET one node over TLS, HTTP/1.1", older.text(), "", "");
  Status done;
  co_return done;
}

asio::awaitable<Status> measure(BenchProcesses& processes) {
  Status done = co_await processes.start(0);
  for (int number = 0; done && number < watches; ++number) {
    const std::string target = folder + kind_of(number);
    const std::string body = R"({"metadata":{"name":")" + name_of(number) + R"("}})";
    done = co_await processes.create(target, body);
  }
  if (done) done = co_await compare_latency(processes.server());
  if (!done) co_return done;
  // HTTP/2 first: memory that HTTP/1.1 allocates and frees would hide its cost.
  CO_TRY(const double shared, co_await cost_of_one(processes.server(), true));
  CO_TRY(const double alone, co_await cost_of_one(processes.server(), false));
  print("memory of an idle watch: HTTP/2, HTTP/1.1", kib(shared) + ", " + kib(alone), "", "");

  done = co_await processes.wait_for_agent("/api/v1/nodes/bench", SystemClock().mono() + 10s);
  if (!done) co_return done;
  CO_TRY(const std::int64_t before, processes.memory());
  Opened opened;
  done = co_await open_all(processes.agent(), 0, watches, opened);
  if (!done) co_return done;
  CO_TRY(const std::size_t connections, processes.agent_connections());
  CO_TRY(const std::int64_t after, processes.memory());
  print("250 named watches: TLS connections", std::to_string(connections), "2", "");
  print("memory of the agent for each, with its cache",
        kib(static_cast<double>(after - before) / watches), "", "");
  co_return done;
}

}  // namespace

asio::awaitable<Status> measure_watches(std::filesystem::path data) {
  BenchProcesses processes(std::move(data), true);
  const Status measured = co_await measure(processes);
  co_await processes.end();
  co_return measured;
}

}  // namespace holdfast::bench
