#include "agent/lab/cluster/known_containers.h"

#include <algorithm>

namespace holdfast::agent::lab::cluster {
namespace {

// "containerd://5d0f..." without the runtime's name.
std::string bare_id(const std::string& id) {
  const auto at = id.find("://");
  return at == std::string::npos ? id : id.substr(at + 3);
}

}  // namespace

void KnownContainers::note(const sync::Pod& pod) {
  for (const sync::ContainerStatus& status : pod.status.container_statuses) {
    if (!status.state.running || status.container_id.empty()) continue;
    Known& known = known_[{pod.metadata.uid, status.name}];
    const std::string id = bare_id(status.container_id);
    if (known.id == id) continue;
    const int next = known.id.empty() ? 0 : known.attempt + 1;
    known = {id, std::max(next, static_cast<int>(status.restart_count))};
  }
}

}  // namespace holdfast::agent::lab::cluster
