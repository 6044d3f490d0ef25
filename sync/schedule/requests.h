// How much of each resource a pod requests, as kube-scheduler of Kubernetes 1.36 counts it.

#pragma once

#include <cstdint>

#include "platform/result.h"
#include "sync/model/pod.h"
#include "sync/schedule/resources.h"

namespace holdfast::sync::schedule {

struct PodRequests {
  Resources real;
  // For scores, a container without a request counts as 100m of cpu or 200Mi of memory.
  std::int64_t scored_cpu = 0;
  std::int64_t scored_memory = 0;
};

// The sum of all containers and sidecars, or the largest init container with the
// sidecars before it, whichever is larger; plus the overhead. Of a container that is resized in
// place, the largest of the amounts in its spec and its status counts. Requests of the pod as a
// whole replace those of its containers. Errors: invalid, naming the field.
[[nodiscard]] Result<PodRequests> read_requests(const Pod& pod, Symbols& symbols);

}  // namespace holdfast::sync::schedule
