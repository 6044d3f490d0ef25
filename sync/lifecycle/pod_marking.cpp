#include "sync/lifecycle/pod_marking.h"

namespace holdfast::sync::lifecycle {

std::vector<MarkPodNotReady> pods_to_mark(const std::vector<const PodFacts*>& pods, WallTime wall) {
  std::vector<MarkPodNotReady> marks;
  for (const PodFacts* pod : pods) {
    if (pod->ready == Truth::absent || pod->ready == Truth::no) continue;
    marks.push_back({ref_of(*pod), wall});
  }
  return marks;
}

bool marking_failed(const Outcome& outcome) {
  return !outcome.ok() && outcome.error != Errc::not_found;
}

Effects after_marking(const MarkPodNotReady& marking, const Outcome& outcome) {
  if (outcome.error == Errc::not_found) return {};
  return {
      pod_event(EventSource::lifecycle, marking.pod, true, "NodeNotReady", "Node is not ready")};
}

}  // namespace holdfast::sync::lifecycle
