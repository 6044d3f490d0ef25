// How often containers were restarted, from the pods that a kubelet reports.

#include "agent/lab/cluster/known_containers.h"

namespace holdfast::agent::lab::cluster {
namespace {

sync::Pod pod_with(const std::string& id, int restarts, bool is_running = true) {
  sync::Pod pod;
  pod.metadata.uid = "u";
  sync::ContainerStatus status;
  status.name = "c";
  status.container_id = id;
  status.restart_count = restarts;
  if (is_running) status.state.running = sync::ContainerRunning();
  pod.status.container_statuses.push_back(status);
  return pod;
}

TEST(LabKnownContainers, ANewIdCountsAsARestart) {
  const struct {
    std::string what;
    sync::Pod pod;
    KnownContainers::Known known;
  } steps[] = {
      {"the first", pod_with("containerd://1", 0), {"1", 0}},
      {"the same", pod_with("containerd://1", 0), {"1", 0}},
      {"counted by the kubelet", pod_with("containerd://2", 1), {"2", 1}},
      {"not counted by the kubelet", pod_with("containerd://3", 0), {"3", 2}},
      {"between two containers", pod_with("containerd://4", 2, false), {"3", 2}},
      {"not created yet", pod_with("", 2), {"3", 2}},
      {"some were never seen", pod_with("containerd://7", 6), {"7", 6}},
  };
  KnownContainers containers;
  for (const auto& step : steps) {
    containers.note(step.pod);
    const KnownContainers::Map expected = {{{"u", "c"}, step.known}};
    EXPECT_EQ(containers.all(), expected) << step.what;
  }
}

}  // namespace
}  // namespace holdfast::agent::lab::cluster
