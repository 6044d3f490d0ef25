// The condition OutOfDisk, which kubelets before 1.13 post. After an upgrade it stays on the node.

#include "sync/lifecycle/node_health.h"
#include "sync/lifecycle/taints.h"
#include "sync/objects/names.h"
#include "test/unit/sync/lifecycle/describe.h"

namespace holdfast::sync::lifecycle {
namespace {

using namespace std::chrono_literals;

NodeFacts node_of(std::string kubelet, std::string_view out_of_disk) {
  Node node = make_node("a", "True");
  node.status.node_info.kubelet_version = std::move(kubelet);
  NodeCondition condition;
  condition.type = objects::condition_out_of_disk;
  condition.status = out_of_disk;
  node.status.conditions.push_back(condition);
  return facts_of(node, Options{});
}

TEST(OutOfDisk, CountsForOldKubeletsOnly) {
  const struct {
    const char* version;
    bool counts;
  } rows[] = {{"v1.7.9", true},       {"v1.12.10", true}, {"v1.12.0-rc.1+build", true},
              {"v1.13.0", false},     {"v1.33.1", false}, {"", false},
              {"development", false}, {"v2.1.0", false},  {"v1", false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.version);
    const NodeFacts node = node_of(row.version, "True");
    const Lines taint{"taint a +node.kubernetes.io/out-of-disk:NoSchedule conditions"};
    EXPECT_EQ(describe(reconcile_no_schedule(wall, node, Options{})), row.counts ? taint : Lines{});
  }
}

TEST(OutOfDisk, ItsTaintGoesWithItAndBelongsToOthersOtherwise) {
  NodeFacts old = node_of("v1.12.1", "False");
  old.taints.push_back(make_taint(objects::taint_out_of_disk, objects::no_schedule, wall));
  EXPECT_EQ(describe(reconcile_no_schedule(wall, old, Options{})),
            Lines{"taint a -node.kubernetes.io/out-of-disk:NoSchedule conditions"});
  NodeFacts fresh = node_of("v1.13.0", "False");
  fresh.taints = old.taints;
  EXPECT_EQ(reconcile_no_schedule(wall, fresh, Options{}), std::vector<PatchTaints>{});
}

TEST(OutOfDisk, BecomesUnknownWithTheOthersButIsNeverMadeUp) {
  const auto types_of = [](const NodeFacts& node) {
    const HealthRecord record{MonoTime{}, MonoTime{}, node.ready(), {}};
    Lines types;
    for (const auto& one : assess(MonoTime(1h), wall, node, record, Options{}).changes) {
      types.push_back(one.type);
    }
    return types;
  };
  EXPECT_EQ(types_of(node_of("v1.12.1", "False")),
            (Lines{"Ready", "OutOfDisk", "MemoryPressure", "DiskPressure", "PIDPressure"}));
  const Lines usual{"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"};
  EXPECT_EQ(types_of(node_of("v1.13.0", "False")), usual);
  EXPECT_EQ(types_of(make_facts("a", "True")), usual);
}

}  // namespace
}  // namespace holdfast::sync::lifecycle
