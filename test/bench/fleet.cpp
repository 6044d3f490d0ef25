#include "test/bench/fleet.h"

#include "platform/loop/timer.h"
#include "sync/lifecycle/taints.h"
#include "sync/objects/names.h"
#include "test/cost/cluster.h"

namespace holdfast::bench {

namespace lifecycle = sync::lifecycle;

namespace {

using namespace std::chrono_literals;

constexpr Duration patience = 30s;
constexpr Duration renewal_period = 10s;  // the kubelet's
const std::string leases_path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

std::string node_body(int number, WallTime now) {
  sync::Node node = cost::make_node(number, now);
  node.metadata.uid.clear();
  node.metadata.resource_version.clear();
  node.status.capacity = {{"cpu", "4"}, {"memory", "4028176Ki"}, {"pods", "110"}};
  node.status.allocatable = node.status.capacity;
  node.status.addresses = {{"InternalIP", "10.1.2.3"}, {"Hostname", node.metadata.name}};
  node.status.node_info.machine_id = "5b1c0f4a8d2e4c7f9a3b6d8e0f1a2b3c";
  node.status.node_info.kernel_version = "6.1.0-18-arm64";
  node.status.node_info.os_image = "Debian GNU/Linux 12 (bookworm)";
  node.status.node_info.container_runtime_version = "containerd://1.6.20";
  node.status.node_info.kubelet_version = "v1.32.1";
  return sync::wire::encode_bytes(node);
}

std::string lease_body(int number) {
  sync::Lease lease;
  lease.metadata.name = cost::node_name(number);
  lease.metadata.owner_references.push_back(
      {"v1", "Node", lease.metadata.name, "0b1c2d3e-6f1c-4e0b-9d57-a1b2c3d4e5f6", {}, {}, {}});
  lease.spec.holder_identity = lease.metadata.name;
  lease.spec.lease_duration_seconds = 40;
  return sync::wire::encode_bytes(lease);
}

std::string pod_body(int number, const std::string& node) {
  sync::Pod pod = cost::make_pod(number, node);
  pod.metadata.uid.clear();
  pod.metadata.labels = {{"app", "application"}, {"pod-template-hash", "7d9c5b8f6d"}};
  sync::Container container;
  container.name = "main";
  container.image = "registry.example.org/team/application:1.2.3";
  container.resources.requests = {{"cpu", "100m"}, {"memory", "64Mi"}};
  for (int index = 0; index < 8; ++index) {
    sync::EnvVar variable;
    variable.name = "SETTING_" + std::to_string(index);
    variable.value = "value-of-setting-" + std::to_string(index);
    container.env.push_back(variable);
  }
  pod.spec.containers.push_back(container);
  sync::ContainerStatus status;
  status.name = "main";
  status.ready = true;
  status.image = container.image;
  status.image_id = container.image + "@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c";
  status.container_id = "containerd://9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0";
  pod.status.container_statuses.push_back(status);
  return sync::wire::encode_bytes(pod);
}

}  // namespace

Fleet::Fleet(asio::any_io_executor executor, std::uint16_t port, FleetSize size)
    : size_(size),
      executor_(executor),
      watcher_(std::make_unique<http::Client>(http::Endpoint{.at = {"127.0.0.1", port}})),
      feed_([this](const auto& node) { see(node); }, [](const auto&) {}, [] {}),
      all_marked_(executor),
      tasks_(executor) {
  for (int index = 0; index < connections; ++index) {
    const http::Endpoint server{.at = {"127.0.0.1", port}};
    clients_.push_back(std::make_unique<http::Client>(server));
  }
}

asio::awaitable<Status> Fleet::post(http::Client& client, std::string target, std::string body) {
  http::Request request{.method = http::Method::post, .target = std::move(target)};
  request.headers.add("Content-Type", "application/json");
  request.body = std::move(body);
  CO_TRY(const http::Response answer,
         co_await client.send(std::move(request), SystemClock().mono() + patience));
  Status done;
  if (answer.status != 201) co_return fail(Errc::invalid, answer.body);
  co_return done;
}

asio::awaitable<Status> Fleet::create() {
  std::vector<Status> outcomes(connections);
  loop::Tasks tasks(executor_);
  for (int share = 0; share < connections; ++share) {
    Status& outcome = outcomes[static_cast<std::size_t>(share)];
    tasks.spawn("create", create_share(share, outcome));
  }
  co_await tasks.join();
  for (const Status& outcome : outcomes) {
    if (!outcome) co_return fail(outcome.error());
  }
  Status done;
  co_return done;
}

asio::awaitable<void> Fleet::create_share(int share, Status& outcome) {
  outcome = co_await create_one_by_one(share);
}

asio::awaitable<Status> Fleet::create_one_by_one(int share) {
  http::Client& client = *clients_[static_cast<std::size_t>(share)];
  const std::string nodes = "/api/v1/nodes";
  const std::string pods = "/api/v1/namespaces/default/pods";
  Status done;
  for (int number = share; done && number < size_.nodes; number += connections) {
    done = co_await post(client, nodes, node_body(number, clock_.wall()));
    if (done) done = co_await post(client, leases_path, lease_body(number));
  }
  for (int number = share; done && number < size_.pods; number += connections) {
    const std::string node = cost::node_name(number % size_.nodes);
    done = co_await post(client, pods, pod_body(number, node));
  }
  co_return done;
}

void Fleet::start() {
  for (int share = 0; share < connections; ++share) tasks_.spawn("renew", renew_share(share));
  tasks_.spawn("look", look());
}

asio::awaitable<void> Fleet::stop() {
  tasks_.cancel();
  co_await tasks_.join();
}

asio::awaitable<void> Fleet::renew_share(int share) {
  http::Client& client = *clients_[static_cast<std::size_t>(share)];
  for (MonoTime round = SystemClock().mono();; round += renewal_period) {
    for (int number = share; number < size_.nodes; number += connections) {
      if (silenced_ && number < size_.silent) continue;
      const MonoTime due = round + renewal_period * number / size_.nodes;
      co_await loop::sleep_until(due);
      co_await renew(client, number);
    }
    co_await loop::sleep_until(round + renewal_period);
  }
}

asio::awaitable<void> Fleet::renew(http::Client& client, int number) {
  http::Request request{.method = http::Method::patch,
                        .target = leases_path + "/" + cost::node_name(number)};
  request.headers.add("Content-Type", "application/merge-patch+json");
  request.body =
      R"({"spec":{"renewTime":")" + format_rfc3339(clock_.wall(), TimeDigits::micros) + R"("}})";
  const auto answer = co_await client.send(std::move(request), SystemClock().mono() + patience);
  ++(answer && answer->status == 200 ? renewals_ : failures_);
}

asio::awaitable<MonoTime> Fleet::silence() {
  silenced_ = true;
  loop::Tasks tasks(executor_);
  for (int share = 0; share < connections; ++share) tasks.spawn("silence", renew_silent(share));
  co_await tasks.join();
  co_return SystemClock().mono();
}

asio::awaitable<void> Fleet::renew_silent(int share) {
  const auto client = std::make_unique<http::Client>(watcher_->endpoint());
  for (int number = share; number < size_.silent; number += connections) {
    co_await renew(*client, number);
  }
}

asio::awaitable<Result<http::Response>> Fleet::send(agent::ApiRequest request, bool streamed) {
  http::Request made{.method = request.method, .target = std::move(request.target)};
  made.headers.add("Accept", "application/json");
  const auto way = streamed ? &http::Client::open : &http::Client::send;
  co_return co_await ((*watcher_).*way)(std::move(made), SystemClock().mono() + patience);
}

asio::awaitable<void> Fleet::look() {
  agent::ListWatchTarget target{.path = "/api/v1/nodes"};
  co_await agent::run_list_watch(std::move(target), *this, feed_, clock_, random_);
}

void Fleet::see(const sync::Node& node) {
  const sync::NodeCondition* ready = find_condition(node.status, sync::objects::condition_ready);
  if (ready == nullptr || ready->status != sync::objects::status_unknown) return;
  const MonoTime now = SystemClock().mono();
  when_.first = std::min(when_.first, now);
  const auto [seen, first] = unknown_.try_emplace(node.metadata.name, now);
  if (first) when_.last_status = now;
  const bool tainted = lifecycle::has_taint(node.spec.taints, sync::objects::taint_unreachable,
                                            sync::objects::no_schedule);
  if (!tainted || !tainted_.insert(node.metadata.name).second) return;
  when_.last_taint = now;
  when_.longest_untainted = std::max(when_.longest_untainted, now - seen->second);
  if (static_cast<int>(tainted_.size()) >= size_.silent) all_marked_.notify_all();
}

asio::awaitable<Result<Fleet::Marked>> Fleet::wait_until_marked(MonoTime deadline) {
  while (static_cast<int>(tainted_.size()) < size_.silent) {
    const bool told = co_await all_marked_.wait_until(deadline);
    if (told) continue;
    co_return fail(Errc::timeout, std::to_string(tainted_.size()) + " of " +
                                      std::to_string(size_.silent) + " are marked");
  }
  co_return when_;
}

}  // namespace holdfast::bench
