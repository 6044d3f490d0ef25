#include "sync/node/boot_admission.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sync/node/admission.h"
#include "sync/node/critical.h"
#include "sync/objects/names.h"
#include "sync/objects/toleration.h"
#include "sync/schedule/cluster.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/names.h"
#include "sync/schedule/node_matcher.h"

namespace holdfast::sync::node {
namespace {

using Refusals = std::map<std::string, Refusal, std::less<>>;

// The kubelet's text for an untolerated taint, whatever the taint is.
constexpr std::string_view reason_taint = "node(s) had taints that the pod didn't tolerate";

bool is_mirror(const Pod& pod) {
  return pod.metadata.annotations.has(objects::annotation_mirror_pod);
}

bool has_ended(const Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed" ||
         pod.metadata.deletion_timestamp.has_value();
}

bool tolerates_all(const Pod& pod, const std::vector<Taint>& taints) {
  const auto& all = pod.spec.tolerations;
  return std::all_of(taints.begin(), taints.end(), [&all](const Taint& taint) {
    return taint.effect != objects::no_execute ||
           std::any_of(all.begin(), all.end(), [&taint](const Toleration& toleration) {
             return objects::tolerates(toleration, taint, false);
           });
  });
}

bool has_conflict(const schedule::PodView& pod, const schedule::NodeView& node) {
  for (const schedule::PodView* other : node.with_ports) {
    for (const schedule::HostPort& taken : other->host_ports) {
      const auto conflicts = [&taken](const auto& port) { return port.conflicts(taken); };
      if (std::any_of(pod.host_ports.begin(), pod.host_ports.end(), conflicts)) return true;
    }
  }
  return false;
}

// The extended resources of pods that the node does not have: a kubelet ignores them, because they
// may be accounted for elsewhere in the cluster.
schedule::FitOptions ignoring_missing(const Node& node, const std::vector<Pod>& pods) {
  schedule::FitOptions options;
  const auto ignore = [&node, &options](const std::vector<Container>& containers) {
    for (const Container& container : containers) {
      for (const auto& [name, amount] : container.resources.requests) {
        if (!node.status.allocatable.has(name)) options.ignored_resources.insert(name);
      }
    }
  };
  for (const Pod& pod : pods) {
    ignore(pod.spec.containers);
    ignore(pod.spec.init_containers);
  }
  return options;
}

// A node whose kubelet admits one pod after the other.
class BootingNode {
 public:
  BootingNode(const Node& node, schedule::FitOptions options)
      : name_(node.metadata.name), options_(std::move(options)) {
    cluster_.set_node(node);
  }

  void admit(Pod pod, Refusals& refusals) {
    pod.spec.node_name = name_;
    const std::string uid = pod.metadata.uid;
    const schedule::PodRef view = schedule::view_of(std::move(pod), cluster_.symbols());
    const schedule::NodeView& node = *cluster_.find(name_);
    Admission admission =
        admit_after_failure(*view->pod, node.pods, failures(*view, node), cluster_.symbols());
    if (!admission.admit) {
      refusals[uid] = {std::move(admission.reason), std::move(admission.message)};
      return;
    }
    for (const schedule::PodRef& victim : admission.victims) {
      refusals[victim->uid()] = {std::string(preempting_reason), std::string(preempting_message)};
      cluster_.remove_pod(victim->uid());
    }
    cluster_.set_pod(view);
  }

 private:
  [[nodiscard]] std::vector<AdmissionFailure> failures(const schedule::PodView& pod,
                                                       const schedule::NodeView& node) const {
    std::vector<AdmissionFailure> found;
    const auto pods = static_cast<std::int64_t>(node.pods.size());
    for (const schedule::Shortfall& each :
         schedule::shortfalls(pod, node, node.requested, pods, cluster_.symbols(), options_)) {
      found.push_back(ResourceFailure{each.resource, each.requested, each.used, each.capacity});
    }
    const auto refused_by = [&found](std::string_view plugin, std::string_view why) {
      found.push_back(PluginFailure{std::string(plugin), std::string(why)});
    };
    if (!schedule::NodeMatcher(pod.pod->spec).matches(*node.node)) {
      refused_by(schedule::plugin_node_affinity, schedule::reason_node_affinity);
    }
    if (has_conflict(pod, node)) refused_by(schedule::plugin_ports, schedule::reason_ports);
    const bool is_static_pod = is_static(*pod.pod) || is_mirror(*pod.pod);
    if (!is_static_pod && !tolerates_all(*pod.pod, node.node->spec.taints)) {
      refused_by(schedule::plugin_taints, reason_taint);
    }
    return found;
  }

  std::string name_;
  schedule::FitOptions options_;
  schedule::Cluster cluster_;
};

}  // namespace

Refusals refused_at_boot(const Node& node, std::vector<Pod> pods) {
  std::erase_if(pods, has_ended);
  std::sort(pods.begin(), pods.end(), [](const Pod& left, const Pod& right) {
    const ObjectMeta& a = left.metadata;
    const ObjectMeta& b = right.metadata;
    return std::tie(a.creation_timestamp, a.namespace_name, a.name) <
           std::tie(b.creation_timestamp, b.namespace_name, b.name);
  });
  Refusals refusals;
  BootingNode booting(node, ignoring_missing(node, pods));
  for (Pod& pod : pods) booting.admit(std::move(pod), refusals);
  return refusals;
}

}  // namespace holdfast::sync::node
