#include "test/bench/scheduler_bench.h"

#include <unistd.h>

#include <boost/asio/this_coro.hpp>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "agent/client/list_watch.h"
#include "agent/cloud/feed.h"
#include "agent/lab/cluster/children.h"
#include "agent/lab/cluster/local_client.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "test/bench/table.h"
#include "test/support/kubeconfig.h"

namespace holdfast::bench {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using agent::ApiClient;
using agent::ApiRequest;

constexpr int nodes = 500;
constexpr int pods = 1000;
constexpr Duration budget = 5s;
constexpr Duration patience = 60s;

std::string node_body(int number) {
  return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"node-)" +
         std::to_string(10'000 + number) +
         R"("},"status":{"allocatable":{"cpu":"4","memory":"16Gi","pods":"110"},)"
         R"("conditions":[{"type":"Ready","status":"True"}]}})";
}

std::string pod_body(int number) {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod-)" + std::to_string(number) +
         R"(","labels":{"app":"web"}},"spec":{"schedulerName":"holdfast-scheduler",)"
         R"("tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists"}],)"
         R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"500m",)"
         R"("memory":"1Gi"}}}]}})";
}

// A watcher that sees which pods are bound.
class ClusterWatcher final : public agent::ListWatchSource {
 public:
  ClusterWatcher(asio::any_io_executor executor, ApiClient& client)
      : client_(client),
        all_bound_(executor),
        feed_([this](const sync::Pod& pod) { see(pod); }, [](const auto&) {}, [] {}),
        tasks_(executor) {}

  void open() { tasks_.spawn("look", look()); }
  asio::awaitable<void> close() {
    tasks_.cancel();
    co_await tasks_.join();
  }

  // Waits until all pods are bound and returns when the last one was; nullopt at `deadline`.
  asio::awaitable<std::optional<MonoTime>> wait(MonoTime deadline) {
    std::optional<MonoTime> last;
    while (bound_.size() < pods) {
      const bool seen = co_await all_bound_.wait_until(deadline);
      if (!seen && bound_.size() < pods) co_return last;
    }
    last = last_;
    co_return last;
  }
  [[nodiscard]] std::size_t bound() const { return bound_.size(); }
  [[nodiscard]] std::size_t fullest() const {
    std::map<std::string, std::size_t> counts;
    std::size_t most = 0;
    for (const auto& [pod, node] : bound_) most = std::max(most, ++counts[node]);
    return most;
  }

  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override {
    co_return co_await client_.send(std::move(request), streamed, SystemClock().mono() + 10s);
  }

 private:
  asio::awaitable<void> look() {
    const SystemClock clock;
    Random random(1);
    agent::ListWatchTarget target{.path = "/api/v1/pods", .ask_protobuf = true};
    co_await agent::run_list_watch(std::move(target), *this, feed_, clock, random);
  }
  void see(const sync::Pod& pod) {
    if (pod.spec.node_name.empty()) return;
    if (!bound_.emplace(pod.metadata.name, pod.spec.node_name).second) return;
    last_ = SystemClock().mono();
    if (bound_.size() == pods) all_bound_.notify_all();
  }

  ApiClient& client_;
  loop::Event all_bound_;
  agent::Feed<sync::Pod> feed_;
  loop::Tasks tasks_;
  std::map<std::string, std::string> bound_;
  MonoTime last_{};
};

asio::awaitable<Status> create_all(ApiClient& client) {
  const std::string of_nodes = "/api/v1/nodes";
  const std::string of_pods = "/api/v1/namespaces/default/pods";
  Status done;
  for (int i = 0; i < nodes + pods; ++i) {
    const bool node = i < nodes;
    ApiRequest request{.method = http::Method::post, .target = node ? of_nodes : of_pods};
    request.body = node ? node_body(i) : pod_body(i - nodes);
    const auto made = co_await client.call(std::move(request), SystemClock().mono() + 10s);
    if (!made) co_return fail(made.error());
  }
  co_return done;
}

asio::awaitable<Result<std::uint16_t>> start_server(agent::lab::cluster::Children& children,
                                                    std::filesystem::path data) {
  auto started = children.start("apiserver", "holdfast-lab",
                                {"apiserver", "--listen=127.0.0.1:0", "--controllers=false",
                                 "--data=" + (data / "server").string()});
  if (!started) co_return fail(started.error());
  const MonoTime deadline = SystemClock().mono() + 20s;
  CO_TRY(const std::string address,
         co_await children.logged("apiserver", "apiserver listening", "address", deadline));
  const auto port = parse_int<std::uint16_t>(address.substr(address.rfind(':') + 1));
  if (!port) co_return fail(Errc::invalid, "no port in \"" + address + "\"");
  (void)test::write_kubeconfig(data / "kubeconfig", "http://127.0.0.1:" + std::to_string(*port));
  co_return *port;
}

std::string text_of(double value, const char* unit) {
  char text[64];
  (void)std::snprintf(text, sizeof text, "%.2f %s", value, unit);
  return text;
}

// Returns whether the budget was kept.
asio::awaitable<Result<bool>> measure(agent::lab::cluster::Children& children,
                                      std::filesystem::path data) {
  CO_TRY(const std::uint16_t port, co_await start_server(children, data));
  const SystemClock clock;
  CO_TRY(const std::unique_ptr<ApiClient> client,
         agent::lab::cluster::local_client(port, clock, "holdfast-bench"));
  const Status created = co_await create_all(*client);
  if (!created) co_return fail("create objects", created.error());
  ClusterWatcher eyes(co_await asio::this_coro::executor, *client);
  eyes.open();
  const MonoTime began = SystemClock().mono();
  auto started =
      children.start("cloud", "holdfast-cloud",
                     {"--kubeconfig=" + (data / "kubeconfig").string(), "--controllers=scheduler",
                      "--secure-port=0", "--leader-elect=false"});
  if (!started) co_return fail(started.error());
  const auto last = co_await eyes.wait(began + patience);
  const std::size_t bound = eyes.bound();
  const std::size_t fullest = eyes.fullest();
  co_await eyes.close();
  if (!last) co_return fail(Errc::timeout, std::to_string(bound) + " pods are bound");
  const double took = std::chrono::duration<double>(*last - began).count();
  const std::string what = std::to_string(pods) + " pods on " + std::to_string(nodes) + " nodes: ";
  print(what + "all bound, from the scheduler's start", text_of(took, "s"),
        text_of(std::chrono::duration<double>(budget).count(), "s"), "");
  print(what + "rate", text_of(pods / took, "pods/s"), "", "");
  print(what + "most on one node", std::to_string(fullest), "", "");
  co_return *last - began <= budget;
}

}  // namespace

asio::awaitable<int> measure_scheduler(loop::Stop&) {
  print("what", "holdfast-cloud", "budget", "");
  std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-bench-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) co_return 1;
  const SystemClock clock;
  agent::lab::cluster::Children children(
      std::filesystem::read_symlink("/proc/self/exe").parent_path(), pattern, clock);
  const auto kept = co_await measure(children, pattern);
  (void)co_await children.end_all(SystemClock().mono() + 10s);
  std::error_code ignored;
  std::filesystem::remove_all(pattern, ignored);
  if (!kept) (void)std::fprintf(stderr, "holdfast-bench: %s\n", kept.error().what.c_str());
  const bool good = kept && *kept;
  co_return good ? 0 : 1;
}

}  // namespace holdfast::bench
