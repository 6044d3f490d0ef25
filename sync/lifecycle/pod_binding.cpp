#include "sync/lifecycle/pod_binding.h"

#include <algorithm>
#include <string>

#include "platform/text.h"
#include "sync/lifecycle/autonomy.h"
#include "sync/lifecycle/names.h"

namespace holdfast::sync::lifecycle {
namespace {

bool is_bindable(const Node& node, const Pod& pod) {
  const auto& owners = pod.metadata.owner_references;
  const bool of_daemon_set =
      std::any_of(owners.begin(), owners.end(),
                  [](const OwnerReference& owner) { return owner.kind == "DaemonSet"; });
  return !of_daemon_set && !pod.metadata.annotations.has(annotation_mirror_pod) &&
         pod.spec.node_name == node.metadata.name &&
         node.metadata.labels.get(label_edge_worker) == "true";
}

// The annotation that remembers the seconds of a toleration; empty for those left alone.
std::string_view original_of(const Toleration& toleration) {
  if (toleration.effect != no_execute) return {};
  if (toleration.key == taint_not_ready) return annotation_original_not_ready;
  if (toleration.key == taint_unreachable) return annotation_original_unreachable;
  return {};
}

void extend(const Autonomy& autonomy, Toleration& toleration, StringMap& annotations) {
  const std::string_view original = original_of(toleration);
  // One without seconds tolerates for ever already: nothing to remember.
  if (toleration.toleration_seconds && !annotations.has(original)) {
    annotations.set(original, std::to_string(*toleration.toleration_seconds));
  }
  toleration.toleration_seconds.reset();
  if (autonomy.duration) {
    toleration.toleration_seconds =
        std::chrono::duration_cast<std::chrono::seconds>(*autonomy.duration).count();
  }
}

void restore(Toleration& toleration, const StringMap& annotations) {
  const std::string* original = annotations.find(original_of(toleration));
  if (original == nullptr) return;
  const auto seconds = parse_int<std::int64_t>(*original);
  if (seconds) toleration.toleration_seconds = *seconds;
}

}  // namespace

PodBinding bind_pod(const Node& node, const Pod& pod) {
  PodBinding binding{false, pod.spec.tolerations, pod.metadata.annotations};
  if (!is_bindable(node, pod)) return binding;
  const Autonomy autonomy = autonomy_of(node.metadata.annotations);
  for (Toleration& toleration : binding.tolerations) {
    if (original_of(toleration).empty()) continue;
    if (autonomy.wanted) {
      extend(autonomy, toleration, binding.annotations);
    } else {
      restore(toleration, binding.annotations);
    }
  }
  binding.changed = binding.tolerations != pod.spec.tolerations ||
                    binding.annotations != pod.metadata.annotations;
  return binding;
}

}  // namespace holdfast::sync::lifecycle
