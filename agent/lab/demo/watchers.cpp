#include "agent/lab/demo/watchers.h"

#include "agent/client/list_watch.h"
#include "agent/lab/demo/constants.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/model/types.h"
#include "sync/wire/codec.h"

namespace holdfast::agent::demo {
namespace {

using namespace std::chrono_literals;
using agent::ApiClient;
using agent::ApiRequest;

constexpr Duration answer_limit = 5s;

class Direct final : public agent::ListWatchSource {
 public:
  Direct(ApiClient& client, const Clock& clock) : client_(client), clock_(clock) {}
  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override {
    return client_.send(std::move(request), streamed, clock_.mono() + answer_limit);
  }

 private:
  ApiClient& client_;
  const Clock& clock_;
};

// Passes decoded objects on: all of them after a list, then each changed one.
template <class T>
class Objects final : public agent::ListWatchSink {
 public:
  using OnAll = std::function<void(const std::vector<T>&)>;
  using OnOne = std::function<void(const T&, bool gone)>;
  Objects(OnAll on_all, OnOne on_one) : on_all_(std::move(on_all)), on_one_(std::move(on_one)) {}

  void replace(std::vector<std::string> items, const std::string& /*version*/,
               const sync::wire::ScopeKind& /*kind*/) override {
    std::vector<T> all;
    for (const std::string& item : items) {
      auto object = sync::wire::decode_bytes<T>(item);
      if (object) all.push_back(*std::move(object));
    }
    on_all_(all);
  }
  void apply(const sync::wire::WatchEvent& event) override {
    const auto object = sync::wire::decode_bytes<T>(event.object);
    if (object) on_one_(*object, event.type == sync::wire::WatchEvent::Type::deleted);
  }
  void bookmark(const std::string& /*version*/) override {}

 private:
  OnAll on_all_;
  OnOne on_one_;
};

template <class T, class Note>
asio::awaitable<void> watch_each(ApiClient& client, const Clock& clock, std::string path,
                                 Note note) {
  Random random = Random::from_entropy();
  Direct source(client, clock);
  auto on_all = [note](const std::vector<T>& all) {
    for (const T& object : all) note(object, false);
  };
  Objects<T> sink(on_all, note);
  agent::ListWatchTarget target{.path = std::move(path)};
  co_await agent::run_list_watch(std::move(target), source, sink, clock, random);
}

NodeSeen seen_of(const sync::Node& node) {
  NodeSeen seen{.name = node.metadata.name};
  const sync::NodeCondition* ready = find_condition(node.status, "Ready");
  if (ready != nullptr) seen.ready = ready->status;
  for (const sync::Taint& taint : node.spec.taints) {
    seen.taints.push_back(taint.key + ":" + taint.effect);
  }
  return seen;
}

PodSeen seen_of(const sync::Pod& pod) {
  PodSeen seen{.uid = pod.metadata.uid, .name = pod.metadata.name, .node = pod.spec.node_name};
  const sync::OwnerReference* owner = find_controller(pod.metadata);
  if (owner != nullptr) seen.owner = owner->kind;
  const sync::PodCondition* ready = find_condition(pod.status, "Ready");
  seen.ready = ready != nullptr && ready->status == "True";
  seen.deleting = pod.metadata.deletion_timestamp.has_value();
  seen.nominated = pod.status.nominated_node_name;
  for (const sync::ContainerStatus& container : pod.status.container_statuses) {
    seen.restarts += container.restart_count;
  }
  return seen;
}

}  // namespace

Result<std::unique_ptr<ApiClient>> local_client(std::uint16_t port, const Clock& clock,
                                                const std::string& user_agent,
                                                const std::string& token) {
  agent::ClusterAccess access;
  access.server = {"127.0.0.1", port};
  access.token = token;
  return ApiClient::make(std::move(access), clock, user_agent);
}

asio::awaitable<void> watch_nodes(ApiClient& client, Recorder& recorder) {
  auto note = [&recorder](const sync::Node& node, bool gone) {
    if (!gone) recorder.note(seen_of(node));
  };
  co_await watch_each<sync::Node>(client, recorder.clock(), "/api/v1/nodes", note);
}

asio::awaitable<void> watch_pods(ApiClient& client, Recorder& recorder) {
  const Clock& clock = recorder.clock();
  Random random = Random::from_entropy();
  Direct source(client, clock);
  auto on_all = [&recorder](const std::vector<sync::Pod>& all) {
    std::vector<PodSeen> pods;
    pods.reserve(all.size());
    for (const sync::Pod& pod : all) pods.push_back(seen_of(pod));
    recorder.record_pods(pods);
  };
  auto on_one = [&recorder](const sync::Pod& pod, bool gone) {
    PodSeen seen = seen_of(pod);
    seen.gone = gone;
    recorder.note(std::move(seen));
  };
  Objects<sync::Pod> sink(on_all, on_one);
  agent::ListWatchTarget target{.path = "/api/v1/pods"};
  co_await agent::run_list_watch(std::move(target), source, sink, clock, random);
}

asio::awaitable<void> watch_leases(ApiClient& client, Recorder& recorder) {
  auto note = [&recorder](const sync::Lease& lease, bool gone) {
    if (gone || !lease.spec.renew_time) return;
    recorder.history().leases.push_back({recorder.now(), lease.metadata.name,
                                         *lease.spec.renew_time, lease.metadata.resource_version});
  };
  co_await watch_each<sync::Lease>(client, recorder.clock(),
                                   "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
                                   note);
}

asio::awaitable<void> watch_deployment(ApiClient& client, Recorder& recorder) {
  auto note = [&recorder](const sync::Deployment& deployment, bool gone) {
    if (deployment.metadata.name != web_name) return;
    ReplicasSeen seen{.wanted = deployment.spec.replicas.value_or(1),
                      .ready = deployment.status.ready_replicas};
    if (!gone) recorder.note(seen);
  };
  co_await watch_each<sync::Deployment>(client, recorder.clock(),
                                        "/apis/apps/v1/namespaces/default/deployments", note);
}

}  // namespace holdfast::agent::demo
