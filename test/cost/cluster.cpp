#include "test/cost/cluster.h"

#include <cstdio>

#include "platform/check.h"
#include "sync/objects/names.h"

namespace holdfast::cost {

namespace control = sync::control;
namespace lifecycle = sync::lifecycle;

namespace {

constexpr WallTime epoch{std::chrono::hours(24 * 365 * 50)};

std::string numbered(const char* format, int number) {
  char text[64];
  (void)std::snprintf(text, sizeof text, format, number);
  return text;
}

// The shape of a random UID, but always the same one.
std::string uid_of(char kind, int number) {
  return numbered("%08x-6f1c-4e0b-9d57-a1b2c3d4e5f", number) + kind;
}

sync::NodeCondition condition(std::string_view type, std::string_view status, WallTime now) {
  sync::NodeCondition made;
  made.type = type;
  made.status = status;
  made.last_heartbeat_time = now;
  made.last_transition_time = now;
  made.reason = "KubeletReady";
  made.message = "kubelet is posting ready status";
  return made;
}

lifecycle::Options with_grace(Duration grace) {
  lifecycle::Options options;
  options.monitor_grace = grace;
  return options;
}

sync::Toleration toleration(std::string_view key) {
  sync::Toleration made;
  made.key = key;
  made.operator_name = "Exists";
  made.effect = sync::objects::no_execute;
  made.toleration_seconds = 300;
  return made;
}

}  // namespace

std::string node_name(int number) { return numbered("edge-node-%06d", number); }

sync::Node make_node(int number, WallTime now) {
  sync::Node node;
  node.metadata.name = node_name(number);
  node.metadata.uid = uid_of('a', number);
  node.metadata.resource_version = numbered("%d", 1000 + number);
  node.metadata.creation_timestamp = now;
  node.metadata.labels = {{"kubernetes.io/hostname", node.metadata.name},
                          {"kubernetes.io/os", "linux"},
                          {"beta.kubernetes.io/os", "linux"},
                          {"topology.kubernetes.io/region", "north"},
                          {"topology.kubernetes.io/zone", numbered("site-%03d", number % 100)}};
  node.status.conditions = {
      condition(sync::objects::condition_memory_pressure, sync::objects::status_false, now),
      condition(sync::objects::condition_disk_pressure, sync::objects::status_false, now),
      condition(sync::objects::condition_pid_pressure, sync::objects::status_false, now),
      condition(sync::objects::condition_ready, sync::objects::status_true, now)};
  return node;
}

sync::Pod make_pod(int number, const std::string& node) {
  sync::Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = numbered("application-7d9c5b8f6d-%06d", number);
  pod.metadata.uid = uid_of('b', number);
  pod.spec.node_name = node;
  pod.spec.tolerations = {toleration(sync::objects::taint_not_ready),
                          toleration(sync::objects::taint_unreachable)};
  sync::PodCondition ready;
  ready.type = sync::objects::condition_ready;
  ready.status = sync::objects::status_true;
  pod.status.phase = "Running";
  pod.status.conditions.push_back(ready);
  return pod;
}

Cluster::Cluster(int nodes, int pods, Duration grace)
    : rules_(with_grace(grace)), nodes_(nodes), pods_(pods) {
  CHECK(nodes > 0);
  for (int number = 0; number < nodes; ++number) {
    const sync::Node node = make_node(number, wall());
    step(control::Changed<sync::Node>{node});
  }
  for (int number = 0; number < pods; ++number) {
    const sync::Pod pod = make_pod(number, node_name(number % nodes));
    step(control::Changed<sync::Pod>{pod});
  }
  step(control::TimePassed{});
  for (int number = 0; number < nodes; ++number) renew();
}

void Cluster::renew() {
  lease_.metadata.name = node_name(next_node_);
  lease_.spec.renew_time = wall();
  step(control::Changed<sync::Lease>{lease_});
  if (++next_node_ < nodes_) return;
  next_node_ = 0;
  pass();
  pass();
}

void Cluster::update_pod() {
  CHECK(pods_ > 0);
  pod_ = make_pod(next_pod_, node_name(next_pod_ % nodes_));
  pod_.status.conditions.front().status =
      next_pod_ % 2 == 0 ? sync::objects::status_true : sync::objects::status_false;
  step(control::Changed<sync::Pod>{pod_});
  next_pod_ = (next_pod_ + 1) % pods_;
}

void Cluster::pass() {
  now_ = deadline_;
  CHECK(now_ < MonoTime::max());
  CHECK(step(control::TimePassed{}));
}

bool Cluster::step(const lifecycle::Controller::Input& input) {
  const auto made = rules_.step({now_, wall()}, input);
  deadline_ = made.deadline;
  return made.effects.empty();
}

WallTime Cluster::wall() const { return epoch + now_.time_since_epoch(); }

}  // namespace holdfast::cost
