#include "sync/lifecycle/pod_binding.h"

#include <algorithm>
#include <string>

#include "platform/text.h"
#include "sync/objects/names.h"

namespace holdfast::sync::lifecycle {
namespace {

// The annotation that stores the original seconds of a toleration; empty for tolerations that the
// binding does not change.
std::string_view original_of(const Toleration& toleration) {
  if (toleration.effect != objects::no_execute) return {};
  if (toleration.key == objects::taint_not_ready) return objects::annotation_original_not_ready;
  if (toleration.key == objects::taint_unreachable) return objects::annotation_original_unreachable;
  return {};
}

void extend(const Autonomy& autonomy, Toleration& toleration, StringMap& annotations) {
  const std::string_view original = original_of(toleration);
  // A toleration without seconds is endless already and has nothing to restore.
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
  if (seconds) toleration.toleration_seconds = seconds;
}

}  // namespace

bool is_bindable(const Pod& pod) {
  const auto& owners = pod.metadata.owner_references;
  const bool of_daemon_set =
      std::any_of(owners.begin(), owners.end(),
                  [](const OwnerReference& owner) { return owner.kind == "DaemonSet"; });
  return !of_daemon_set && !pod.metadata.annotations.has(objects::annotation_mirror_pod);
}

PodBinding bind_pod(const Node& node, const Pod& pod) {
  const bool here = pod.spec.node_name == node.metadata.name;
  const bool edge = node.metadata.labels.get(objects::label_edge_worker) == "true";
  if (!here || !edge || !is_bindable(pod)) {
    return {false, pod.spec.tolerations, pod.metadata.annotations};
  }
  return bind_pod(autonomy_of(node.metadata.annotations), pod.spec.tolerations,
                  pod.metadata.annotations);
}

PodBinding bind_pod(const Autonomy& autonomy, const std::vector<Toleration>& tolerations,
                    const StringMap& annotations) {
  PodBinding binding{false, tolerations, annotations};
  for (Toleration& toleration : binding.tolerations) {
    if (original_of(toleration).empty()) continue;
    if (autonomy.wanted) {
      extend(autonomy, toleration, binding.annotations);
    } else {
      restore(toleration, binding.annotations);
    }
  }
  binding.changed = binding.tolerations != tolerations || binding.annotations != annotations;
  return binding;
}

StringMap originals_of(const StringMap& annotations) {
  StringMap originals;
  for (const std::string_view key :
       {objects::annotation_original_not_ready, objects::annotation_original_unreachable}) {
    if (const std::string* found = annotations.find(key)) originals.set(key, *found);
  }
  return originals;
}

}  // namespace holdfast::sync::lifecycle
