#include "agent/lab/run/convergence.h"

#include <algorithm>
#include <map>
#include <set>

#include "agent/lab/sim/objects.h"

namespace holdfast::agent::lab::run {
namespace {

template <class Object>
const Object* object_named(const std::vector<Object>& objects, const std::string& name) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&name](const Object& each) {
    return each.metadata.name == name;
  });
  return found == objects.end() ? nullptr : &*found;
}

std::string full_name(const sync::Pod& pod) {
  return pod.metadata.namespace_name + "/" + pod.metadata.name;
}

bool has_ended(const sync::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

// "main 5d0f7c2a, 2 restarts, ready": what must be the same on the node and in the API.
std::string shown_containers(const sync::Pod& pod) {
  std::set<std::string> texts;
  for (const sync::ContainerStatus& each : pod.status.container_statuses) {
    const auto at = each.container_id.find("://");
    const std::string id = at == std::string::npos ? "" : each.container_id.substr(at + 3, 8);
    texts.insert(each.name + " " + (id.empty() ? "without id" : id) + ", " +
                 std::to_string(each.restart_count) + " restarts, " +
                 (each.ready ? "ready" : "not ready"));
  }
  std::string shown = pod.status.phase;
  for (const std::string& text : texts) shown += "; " + text;
  return shown;
}

class Comparison {
 public:
  Comparison(const ApiState& api, WallTime now) : api_(api), now_(now) {}

  void compare(const NodeState& state) {
    compare_node(state.name);
    compare_lease(state.name);
    std::set<std::string> known;
    for (const sync::Pod& pod : api_.pods) {
      known.insert(pod.metadata.uid);
      if (pod.spec.node_name == state.name && !has_ended(pod)) compare_pod(pod, state);
    }
    for (const cluster::ContainerProcess& each : state.running) {
      if (known.contains(each.pod_uid)) continue;
      add(state.name + ": container " + each.container + " runs, but the API has no pod " +
          each.pod_uid);
    }
  }

  [[nodiscard]] std::vector<std::string> found() && { return std::move(found_); }

 private:
  void add(std::string text) { found_.push_back(std::move(text)); }

  void compare_node(const std::string& name) {
    const sync::Node* node = object_named(api_.nodes, name);
    if (node == nullptr) return add(name + ": the API has no such node");
    const std::string_view ready = sim::ready_status(*node);
    if (ready != "True") add(name + ": Ready is " + std::string(ready));
    for (const sync::Taint& taint : node->spec.taints) {
      if (!taint.key.starts_with("node.kubernetes.io/")) continue;
      if (taint.key == "node.kubernetes.io/unschedulable") continue;  // a person's
      add(name + ": has the taint " + taint.key + ":" + taint.effect);
    }
  }

  void compare_lease(const std::string& name) {
    const sync::Lease* lease = object_named(api_.leases, name);
    if (lease == nullptr || !lease->spec.renew_time) return add(name + ": has no lease");
    const auto lasts = std::chrono::seconds(lease->spec.lease_duration_seconds.value_or(0));
    const Duration age = now_ - *lease->spec.renew_time;
    if (age <= lasts) return;
    add(name + ": its lease was renewed " +
        format_duration(std::chrono::floor<std::chrono::seconds>(age)) + " ago and lasts " +
        format_duration(lasts));
  }

  void compare_pod(const sync::Pod& pod, const NodeState& state) {
    const std::string name = state.name + ": pod " + full_name(pod);
    if (pod.metadata.deletion_timestamp) return add(name + " is still being deleted");
    const auto running = std::count_if(
        state.running.begin(), state.running.end(),
        [&pod](const cluster::ContainerProcess& each) { return each.pod_uid == pod.metadata.uid; });
    const auto wanted = static_cast<std::ptrdiff_t>(pod.spec.containers.size());
    if (running != wanted) {
      add(name + ": " + std::to_string(running) + " of " + std::to_string(wanted) +
          " containers run");
    }
    if (!sim::is_ready(pod)) add(name + " is not Ready in the API");
    if (state.kubelet) compare_status(pod, *state.kubelet, name);
  }

  void compare_status(const sync::Pod& pod, const std::vector<sync::Pod>& kubelet,
                      const std::string& name) {
    for (const sync::Pod& its : kubelet) {
      if (its.metadata.uid != pod.metadata.uid) continue;
      const std::string here = shown_containers(its);
      const std::string there = shown_containers(pod);
      if (here != there) add(name + ": \"" + here + "\" on the node, \"" + there + "\" in the API");
      return;
    }
    add(name + ": the kubelet does not have it");
  }

  const ApiState& api_;
  WallTime now_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> differences(const ApiState& api, const std::vector<NodeState>& nodes,
                                     WallTime now) {
  Comparison comparison(api, now);
  for (const NodeState& node : nodes) {
    if (node.has_link) comparison.compare(node);
  }
  return std::move(comparison).found();
}

}  // namespace holdfast::agent::lab::run
