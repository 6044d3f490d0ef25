// The whole daemon against the lab's API server over loopback, with its times shortened.

#include "agent/cloud/daemon.h"

#include <boost/asio/this_coro.hpp>
#include <fstream>

#include "agent/lab/apiserver/apiserver.h"
#include "platform/http/server.h"
#include "platform/loop/timer.h"
#include "test/support/run.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
using loop::BootClock;

// An API server and those who use it.
class Cluster {
 public:
  explicit Cluster(asio::io_context& context)
      : executor_(context.get_executor()),
        api_(lab::ApiServer::open(executor_, clock_, Random(1),
                                  {.data = scratch_.path() / "data", .controllers = false})
                 .value()),
        tasks_(executor_) {
    open();
    tasks_.spawn("api", api_->run());
    tasks_.spawn("beat", beat());
  }

  asio::awaitable<void> stop() {
    tasks_.cancel();
    co_await tasks_.join();
    api_->stop();
    co_await server_->stop(BootClock::now() + 5s);
  }

  // The API server is gone, for the nodes as for the controller.
  asio::awaitable<void> close() {
    beating_ = false;
    co_await server_->stop(BootClock::now());
    server_.reset();
  }
  void open() {
    server_ = std::make_unique<http::Server>(executor_, http::ServerLimits{}, api_->handler(),
                                             lab::status_problem);
    auto listener = net::Listener::open(executor_, {"127.0.0.1", port_}, nullptr).value();
    port_ = listener->port();
    server_->listen(std::move(listener));
    beating_ = true;
  }

  // A kubeconfig for this server.
  [[nodiscard]] std::string kubeconfig() const {
    const auto file = scratch_.path() / "kubeconfig";
    std::ofstream out(file);
    out << "current-context: c\n"
        << "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
        << "clusters: [{name: c, cluster: {server: \"http://127.0.0.1:" << port_ << "\"}}]\n"
        << "users: [{name: u, user: {}}]\n";
    return file.string();
  }

  asio::awaitable<std::string> ask(http::Method method, std::string target, std::string body,
                                   std::string type) {
    http::Request request{.method = method, .target = std::move(target), .body = std::move(body)};
    request.headers.set("Content-Type", std::move(type));
    const http::Response response = co_await api_->handler()(request);
    EXPECT_LT(response.status, 300) << request.target << " " << response.body;
    co_return response.body;
  }

  asio::awaitable<void> add_node(std::string name) {
    const std::string status =
        R"({"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady",)"
        R"("lastHeartbeatTime":"2026-01-01T00:00:00Z",)"
        R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]})";
    std::string node = R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name +
                       R"("},"status":)" + status + "}";
    co_await ask(http::Method::post, "/api/v1/nodes", std::move(node), "application/json");
    std::string lease =
        R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":")" + name +
        R"("},"spec":{"holderIdentity":")" + name + R"("}})";
    co_await ask(http::Method::post, leases, std::move(lease), "application/json");
    living.push_back(std::move(name));
  }

  asio::awaitable<void> add_pod(std::string name, std::string node) {
    std::string pod = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
                      R"("},"spec":{"nodeName":")" + node +
                      R"(","containers":[{"name":"c","image":"i"}],"tolerations":[)"
                      R"({"key":"node.kubernetes.io/unreachable","operator":"Exists",)"
                      R"("effect":"NoExecute","tolerationSeconds":0},)"
                      R"({"key":"node.kubernetes.io/not-ready","operator":"Exists",)"
                      R"("effect":"NoExecute","tolerationSeconds":0}]}})";
    co_await ask(http::Method::post, pods, std::move(pod), "application/json");
    std::string status = R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})";
    co_await ask(http::Method::patch, pods + "/" + name + "/status", std::move(status),
                 "application/strategic-merge-patch+json");
  }

  asio::awaitable<void> annotate(std::string name, std::string key, std::string value) {
    std::string body = R"({"metadata":{"annotations":{")" + key + R"(":")" + value + R"("}}})";
    co_await ask(http::Method::patch, "/api/v1/nodes/" + name, std::move(body),
                 "application/merge-patch+json");
  }

  asio::awaitable<sync::Node> node(std::string name) {
    const std::string body = co_await ask(http::Method::get, "/api/v1/nodes/" + name, "", "");
    co_return sync::decode_bytes<sync::Node>(body).value_or(sync::Node{});
  }

  // "node.kubernetes.io/unreachable:NoSchedule ..." in order.
  asio::awaitable<std::string> taints(std::string name) {
    const sync::Node found = co_await node(std::move(name));
    std::string text;
    for (const sync::Taint& taint : found.spec.taints) text += taint.key + ":" + taint.effect + " ";
    co_return text;
  }

  asio::awaitable<bool> is_terminating(std::string pod) {
    const std::string body = co_await ask(http::Method::get, pods + "/" + pod, "", "");
    const auto found = sync::decode_bytes<sync::Pod>(body);
    co_return found && found->metadata.deletion_timestamp.has_value();
  }

  std::vector<std::string> living;

  inline static const std::string leases =
      "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  inline static const std::string pods = "/api/v1/namespaces/default/pods";

 private:
  // Renews the leases of the living.
  asio::awaitable<void> beat() {
    while (true) {
      const std::vector<std::string> names = beating_ ? living : std::vector<std::string>{};
      for (const std::string& name : names) {
        std::string body = R"({"spec":{"renewTime":")" +
                           format_rfc3339(clock_.wall(), TimeDigits::micros) + R"("}})";
        co_await ask(http::Method::patch, leases + "/" + name, std::move(body),
                     "application/merge-patch+json");
      }
      co_await loop::sleep_until(BootClock::now() + 50ms);
    }
  }

  SystemClock clock_;
  test::ScratchDir scratch_;
  asio::any_io_executor executor_;
  std::unique_ptr<lab::ApiServer> api_;
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_ = 0;
  bool beating_ = true;
  loop::Tasks tasks_;
};

CloudSettings quick(const Cluster& cluster) {
  CloudSettings settings;
  settings.kubeconfig = cluster.kubeconfig();
  settings.node_monitor_period = 50ms;
  settings.node_monitor_grace_period = 600ms;
  settings.node_startup_grace_period = 600ms;
  settings.node_eviction_rate = 10;
  settings.secondary_node_eviction_rate = 10;
  return settings;
}

constexpr auto patience = 20s;

TEST(Daemon, MarksTaintsEvictsAndTakesItBack) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const SystemClock clock;
    Cluster cluster(context);
    for (const char* name : {"a", "b", "c"}) co_await cluster.add_node(name);
    co_await cluster.add_pod("p", "a");
    co_await cluster.add_pod("q", "b");
    auto daemon = Daemon::make(context.get_executor(), quick(cluster), clock).value();
    daemon->start();

    std::erase(cluster.living, "a");
    const MonoTime limit = BootClock::now() + patience;
    bool evicted = false;
    while (!evicted && BootClock::now() < limit) {
      co_await loop::sleep_until(BootClock::now() + 10ms);
      evicted = co_await cluster.is_terminating("p");
    }
    EXPECT_TRUE(evicted);
    const sync::Node lost = co_await cluster.node("a");
    EXPECT_EQ(lost.status.condition("Ready")->status, "Unknown");
    EXPECT_EQ(lost.status.condition("Ready")->reason, "NodeStatusUnknown");
    const std::string taints = co_await cluster.taints("a");
    EXPECT_EQ(
        taints,
        "node.kubernetes.io/unreachable:NoSchedule node.kubernetes.io/unreachable:NoExecute ");
    const bool other = co_await cluster.is_terminating("q");
    EXPECT_FALSE(other);

    std::string beat = R"({"status":{"conditions":[{"type":"Ready","status":"True",)"
                       R"("lastHeartbeatTime":"2026-01-01T00:01:00Z",)"
                       R"("lastTransitionTime":"2026-01-01T00:01:00Z"}]}})";
    co_await cluster.ask(http::Method::patch, "/api/v1/nodes/a/status", std::move(beat),
                         "application/strategic-merge-patch+json");
    cluster.living.emplace_back("a");
    std::string left = taints;
    while (!left.empty() && BootClock::now() < limit) {
      co_await loop::sleep_until(BootClock::now() + 10ms);
      left = co_await cluster.taints("a");
    }
    EXPECT_EQ(left, "");
    co_await daemon->stop(BootClock::now() + 5s);
    co_await cluster.stop();
  });
}

TEST(Daemon, AnAutonomousNodeKeepsItsPods) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const SystemClock clock;
    Cluster cluster(context);
    for (const char* name : {"a", "b", "c", "d"}) co_await cluster.add_node(name);
    co_await cluster.annotate("a", "node.beta.openyurt.io/autonomy", "true");
    co_await cluster.add_pod("p", "a");
    co_await cluster.add_pod("q", "b");
    auto daemon = Daemon::make(context.get_executor(), quick(cluster), clock).value();
    daemon->start();
    std::erase(cluster.living, "a");
    std::erase(cluster.living, "b");
    const MonoTime limit = BootClock::now() + patience;
    bool evicted = false;
    while (!evicted && BootClock::now() < limit) {
      co_await loop::sleep_until(BootClock::now() + 10ms);
      evicted = co_await cluster.is_terminating("q");
    }
    EXPECT_TRUE(evicted) << "the node that is not autonomous";
    const bool kept = co_await cluster.is_terminating("p");
    EXPECT_FALSE(kept);
    const std::string taints = co_await cluster.taints("a");
    EXPECT_EQ(taints, "node.kubernetes.io/unreachable:NoSchedule ");
    co_await daemon->stop(BootClock::now() + 5s);
    co_await cluster.stop();
  });
}

// A gap much longer than the grace, in which nobody could renew anything.
TEST(Daemon, TheApiServersAbsenceIsNobodysDeath) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const SystemClock clock;
    Cluster cluster(context);
    for (const char* name : {"a", "b"}) co_await cluster.add_node(name);
    auto daemon = Daemon::make(context.get_executor(), quick(cluster), clock).value();
    daemon->start();
    const MonoTime limit = BootClock::now() + patience;
    while (!daemon->cloud().started() && BootClock::now() < limit) {
      co_await loop::sleep_until(BootClock::now() + 10ms);
    }
    co_await cluster.close();
    co_await loop::sleep_until(BootClock::now() + 700ms);
    cluster.open();
    // Until the watches are back, and then for longer than the grace.
    co_await loop::sleep_until(BootClock::now() + 1500ms);
    for (const char* name : {"a", "b"}) {
      const sync::Node node = co_await cluster.node(name);
      EXPECT_EQ(node.status.condition("Ready")->status, "True") << name;
    }
    co_await daemon->stop(BootClock::now() + 5s);
    co_await cluster.stop();
  });
}

}  // namespace
}  // namespace holdfast::agent
