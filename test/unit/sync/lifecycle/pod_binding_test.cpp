#include "sync/lifecycle/pod_binding.h"

#include "sync/objects/names.h"
#include "test/unit/sync/lifecycle/describe.h"

namespace holdfast::sync::lifecycle {
namespace {

Node edge_node(std::string_view key, std::string_view value) {
  Node node = make_node("a", "True");
  node.metadata.labels.set(objects::label_edge_worker, "true");
  node.metadata.annotations.set(key, value);
  return node;
}

Pod pod_with(std::vector<Toleration> tolerations) {
  Pod pod = make_pod("p", "a");
  pod.spec.tolerations = std::move(tolerations);
  return pod;
}

const std::string not_ready_key(objects::taint_not_ready);

TEST(PodBinding, LengthensAndRemembers) {
  const PodBinding expect{true,
                          {make_toleration(not_ready_key, 7200), make_toleration("other", 5)},
                          {{std::string(objects::annotation_original_not_ready), "300"}}};
  EXPECT_EQ(bind_pod(edge_node(objects::annotation_autonomy_duration, "2h"),
                     pod_with({make_toleration(not_ready_key, 300), make_toleration("other", 5)})),
            expect);
}

// OpenYurt crashes at a toleration without seconds.
TEST(PodBinding, ATolerationForEverHasNothingToRemember) {
  const PodBinding ever{false, {make_toleration(not_ready_key, {})}, {}};
  EXPECT_EQ(bind_pod(edge_node(objects::annotation_autonomy, "true"),
                     pod_with({make_toleration(not_ready_key, {})})),
            ever);
  const PodBinding hour{true, {make_toleration(not_ready_key, 3600)}, {}};
  EXPECT_EQ(bind_pod(edge_node(objects::annotation_autonomy_duration, "1h"),
                     pod_with({make_toleration(not_ready_key, {})})),
            hour);
}

TEST(PodBinding, RestoresOnlyWhatCanBeRead) {
  Pod pod = pod_with({make_toleration(not_ready_key, 7200)});
  pod.metadata.annotations.set(objects::annotation_original_not_ready, "many");
  const PodBinding expect{false, pod.spec.tolerations, pod.metadata.annotations};
  EXPECT_EQ(bind_pod(edge_node(objects::annotation_autonomy, "false"), pod), expect);
}

TEST(PodBinding, LeavesOthersAlone) {
  const std::vector<Toleration> tolerations{make_toleration(not_ready_key, 300)};
  Pod mirror = pod_with(tolerations);
  mirror.metadata.annotations.set(objects::annotation_mirror_pod, "hash");
  Pod daemon = pod_with(tolerations);
  daemon.metadata.owner_references.resize(1);
  daemon.metadata.owner_references[0].kind = "DaemonSet";
  Pod elsewhere = pod_with(tolerations);
  elsewhere.spec.node_name = "b";
  for (const Pod& pod : {mirror, daemon, elsewhere}) {
    EXPECT_FALSE(bind_pod(edge_node(objects::annotation_binding, "true"), pod).changed);
  }
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
