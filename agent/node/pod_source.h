// Tells the pod workers what should run on this node: the node's pods with their ConfigMaps and
// Secrets. ApiPodSource (api_pod_source.h) is the real source; tests have others.
// All functions answer at once, from the objects received so far.

#pragma once

#include "platform/loop/event.h"
#include "sync/runtime/config_source.h"

namespace holdfast::agent::node {

class PodSource : public sync::runtime::ConfigSource {
 public:
  // NeverReceived until a complete list of the node's pods was received.
  [[nodiscard]] virtual sync::runtime::DesiredPods desired() const = 0;

  // Notified when any answer may have changed.
  [[nodiscard]] virtual loop::Event& changed() = 0;
};

}  // namespace holdfast::agent::node
