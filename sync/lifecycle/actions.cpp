#include "sync/lifecycle/actions.h"

#include <iterator>
#include <utility>

namespace holdfast::sync::lifecycle {

RecordEvent node_event(const NodeFacts& node, bool warning, std::string_view reason,
                       std::string message) {
  return {EventSource::lifecycle, EventKind::node,   PodRef{"", node.name, node.uid}, warning,
          std::string(reason),    std::move(message)};
}

RecordEvent pod_event(EventSource source, PodRef pod, bool warning, std::string_view reason,
                      std::string message) {
  return {source, EventKind::pod, std::move(pod), warning, std::string(reason), std::move(message)};
}

PodRef ref_of(const PodFacts& pod) { return {pod.namespace_name, pod.name, pod.uid}; }

void append(Actions& actions, Actions more) {
  std::move(more.begin(), more.end(), std::back_inserter(actions));
}

}  // namespace holdfast::sync::lifecycle
