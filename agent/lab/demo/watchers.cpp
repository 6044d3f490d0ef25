#include "agent/lab/demo/watchers.h"

#include "agent/lab/cluster/watch_objects.h"
#include "agent/lab/demo/constants.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/model/types.h"
#include "sync/wire/codec.h"

namespace holdfast::agent::demo {
namespace {

using agent::ApiClient;
using lab::cluster::watch_each;
using lab::cluster::watch_objects;

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

asio::awaitable<void> watch_nodes(ApiClient& client, Recorder& recorder) {
  auto note = [&recorder](const sync::Node& node, bool gone) {
    if (!gone) recorder.note(seen_of(node));
  };
  co_await watch_each<sync::Node>(client, recorder.clock(), "/api/v1/nodes", note);
}

asio::awaitable<void> watch_pods(ApiClient& client, Recorder& recorder) {
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
  co_await watch_objects<sync::Pod>(client, recorder.clock(), "/api/v1/pods", on_all, on_one);
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
