#include "test/bench/server_bench.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <cstdio>
#include <memory>
#include <sstream>

#include "agent/client/api_client.h"
#include "platform/fs/file.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/text.h"
#include "test/bench/bench_processes.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;
using agent::ApiClient;
using agent::ApiRequest;

constexpr Duration patience = 60s;
constexpr std::size_t payload = 700;  // bytes of data in one object
const std::string folder = "/api/v1/namespaces/default/configmaps";

std::string name_of(int number) { return "bench-" + std::to_string(100'000 + number); }

ApiRequest creation(int number) {
  return {.method = http::Method::post,
          .target = folder,
          .body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" +
                  name_of(number) + R"(","labels":{"app":"bench"}},"data":{"text":")" +
                  std::string(payload, 'x') + "\"}}"};
}

ApiRequest update(int number) {
  return {.method = http::Method::patch,
          .target = folder + "/" + name_of(number),
          .body = R"({"data":{"round":")" + std::to_string(number) + "\"}}",
          .content_type = "application/merge-patch+json"};
}

// User and system time of the processes.
Result<Duration> cpu_time(const std::vector<int>& pids) {
  Duration sum{};
  for (const int pid : pids) {
    TRY(const std::string text, fs::read_all("/proc/" + std::to_string(pid) + "/stat", 1 << 16));
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    std::string skipped;
    for (int field = 3; field < 14; ++field) fields >> skipped;
    std::int64_t user = 0;
    std::int64_t system = 0;
    if (!(fields >> user >> system)) return fail(Errc::corrupt, "/proc/PID/stat");
    sum += std::chrono::nanoseconds(1s) * (user + system) / sysconf(_SC_CLK_TCK);
  }
  return sum;
}

class ServerBench {
 public:
  ServerBench(asio::any_io_executor executor, ServerBenchSettings settings)
      : settings_(std::move(settings)),
        executor_(std::move(executor)),
        delivered_all_(executor_),
        watches_(executor_) {}

  asio::awaitable<Status> run() {
    CO_TRY(const agent::ClusterAccess access, agent::read_kubeconfig(settings_.kubeconfig));
    CO_TRY(client_, ApiClient::make(access, clock_, "holdfast-bench"));
    CO_TRY(watching_, ApiClient::make(access, clock_, "holdfast-bench-watchers"));
    Status done = co_await phase("creates", creation, settings_.objects);
    if (done) done = note_memory("memory_mib");
    if (done) done = co_await phase("updates", update, settings_.updates);
    if (done) done = co_await deliveries();
    if (done) done = note_memory("memory_after_mib");
    co_return done;
  }

  void print() const { std::printf("{%s}\n", figures_.c_str()); }

 private:
  using Make = ApiRequest (*)(int number);

  void note(const std::string& name, double value) {
    char text[64];
    (void)std::snprintf(text, sizeof text, "\": %.3f", value);
    figures_ += (figures_.empty() ? "\"" : ", \"") + name + text;
  }

  Status note_memory(const std::string& name) {
    std::int64_t sum = 0;
    for (const int pid : settings_.pids) {
      TRY(const std::int64_t one, memory_of(pid));
      sum += one;
    }
    note(name, static_cast<double>(sum) / 1024);
    return {};
  }

  // Sends `count` requests, at_once of them at a time.
  asio::awaitable<Status> send_all(Make make, int count) {
    next_ = 0;
    failure_ = {};
    loop::Tasks senders(executor_);
    for (int sender = 0; sender < settings_.at_once; ++sender) {
      senders.spawn("send", send_share(make, count));
    }
    co_await senders.join();
    co_return failure_;
  }

  asio::awaitable<void> send_share(Make make, int count) {
    while (next_ < count && failure_) {
      ApiRequest request = make(next_++);
      const auto answer = co_await client_->call(std::move(request), clock_.mono() + patience);
      if (!answer) failure_ = fail(answer.error());
    }
  }

  asio::awaitable<Status> phase(std::string name, Make make, int count) {
    CO_TRY(const Duration cpu_before, cpu_time(settings_.pids));
    const MonoTime began = clock_.mono();
    const Status done = co_await send_all(make, count);
    if (!done) co_return fail(name, done.error());
    note_rate(name, count, clock_.mono() - began);
    CO_TRY(const Duration cpu, cpu_time(settings_.pids));
    note(name + "_cpu_us",
         std::chrono::duration<double, std::micro>(cpu - cpu_before).count() / count);
    co_return done;
  }

  void note_rate(const std::string& name, int count, Duration took) {
    note(name + "_per_s", count / std::chrono::duration<double>(took).count());
  }

  // Updates while watchers receive every one of them.
  asio::awaitable<Status> deliveries() {
    Status done;
    for (int watcher = 0; watcher < settings_.watchers; ++watcher) {
      ApiRequest request{.target = folder + "?watch=true&resourceVersion="};
      CO_TRY(request.target, co_await newest());
      CO_TRY(auto stream, co_await watching_->stream(std::move(request), clock_.mono() + patience));
      watches_.spawn("watch", count_events(std::move(stream)));
    }
    CO_TRY(const Duration cpu_before, cpu_time(settings_.pids));
    const int all = settings_.watched * settings_.watchers;
    const MonoTime began = clock_.mono();
    done = co_await send_all(update_again, settings_.watched);
    if (!done) co_return fail("updates with watchers", done.error());
    while (delivered_ < all) {
      const bool told = co_await delivered_all_.wait_until(began + 2 * patience);
      if (told) continue;
      co_return fail(Errc::timeout, std::to_string(delivered_) + " of " + std::to_string(all) +
                                        " events were delivered");
    }
    note_rate("deliveries", all, clock_.mono() - began);
    CO_TRY(const Duration cpu, cpu_time(settings_.pids));
    note("deliveries_cpu_us",
         std::chrono::duration<double, std::micro>(cpu - cpu_before).count() / all);
    watches_.cancel();
    co_await watches_.join();
    co_return done;
  }

  static ApiRequest update_again(int number) {
    ApiRequest request = update(number);
    request.body = R"({"data":{"round":"again"}})";
    return request;
  }

  // A watch of all objects that begins now.
  asio::awaitable<Result<std::string>> newest() {
    ApiRequest request{.target = folder + "?limit=1"};
    CO_TRY(const std::string list,
           co_await client_->call(std::move(request), clock_.mono() + patience));
    const std::string key = "\"resourceVersion\":\"";
    const std::size_t at = list.find(key);
    if (at == std::string::npos) co_return fail(Errc::corrupt, "a list without a version");
    const std::size_t from = at + key.size();
    co_return folder +
        "?watch=true&resourceVersion=" + list.substr(from, list.find('"', from) - from);
  }

  // Events in JSON end with a newline.
  asio::awaitable<void> count_events(std::shared_ptr<http::BodyStream> stream) {
    for (;;) {
      const auto piece = co_await stream->next();
      if (!piece || piece->empty()) co_return;
      delivered_ += static_cast<int>(std::count(piece->begin(), piece->end(), '\n'));
      if (delivered_ >= settings_.watched * settings_.watchers) delivered_all_.notify_all();
    }
  }

  ServerBenchSettings settings_;
  asio::any_io_executor executor_;
  SystemClock clock_;
  std::unique_ptr<ApiClient> client_;
  std::unique_ptr<ApiClient> watching_;
  std::string figures_;
  Status failure_;
  int next_ = 0;
  int delivered_ = 0;
  loop::Event delivered_all_;
  loop::Tasks watches_;
};

}  // namespace

asio::awaitable<int> measure_server(ServerBenchSettings settings) {
  ServerBench bench(co_await asio::this_coro::executor, std::move(settings));
  const Status measured = co_await bench.run();
  if (measured) {
    bench.print();
    co_return 0;
  }
  (void)std::fprintf(stderr, "holdfast-bench: %s\n", measured.error().what.c_str());
  co_return 1;
}

}  // namespace holdfast::bench
