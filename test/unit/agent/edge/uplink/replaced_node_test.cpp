// A Node that is deleted and registered again, with the same name and another uid.

#include <gtest/gtest.h>

#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::replaced_node {
namespace {

using sync::autonomy::LinkState;

constexpr const char* nodes = "/api/v1/nodes";

std::string owner_of_lease(const UplinkFixture& fixture) {
  const std::string& lease = fixture.cloud.lease();
  if (lease.empty()) return "no lease";
  const auto object = sync::wire::parse_json(lease).value();
  return std::string(object.at_pointer("/metadata/ownerReferences/0/uid").as_string());
}

// Runs for `time`. The garbage collector runs every second. Returns how many leases it deleted.
int run_with_garbage_collector(UplinkFixture& fixture, Duration time) {
  int deleted = 0;
  for (Duration passed{}; passed < time; passed += 1s) {
    fixture.time.run(1s);
    deleted += fixture.cloud.collect_garbage() ? 1 : 0;
  }
  return deleted;
}

// A connected agent whose kubelet watches its Node.
void prepare(UplinkFixture& fixture) {
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask("/api/v1/nodes?fieldSelector=metadata.name%3Dedge1").status, 200);
  fixture.time.run(30s);
  ASSERT_EQ(owner_of_lease(fixture), "uid-edge1");
}

TEST(ReplacedNode, TheLeaseFollowsItsNode) {
  UplinkFixture fixture;
  prepare(fixture);
  fixture.cloud.remove(nodes, "edge1");
  EXPECT_EQ(run_with_garbage_collector(fixture, 2min), 1) << "and none is created without a Node";
  EXPECT_EQ(owner_of_lease(fixture), "no lease");
  fixture.cloud.put(nodes, "edge1", "{}", "uid-2");
  EXPECT_EQ(run_with_garbage_collector(fixture, 2min), 0);
  EXPECT_EQ(owner_of_lease(fixture), "uid-2");
  EXPECT_EQ(fixture.state(), LinkState::connected);
}

TEST(ReplacedNode, ALeaseThatOutlivesItsNodeIsTakenOver) {
  UplinkFixture fixture;
  prepare(fixture);
  fixture.cloud.remove(nodes, "edge1");
  fixture.cloud.put(nodes, "edge1", "{}", "uid-2");
  fixture.time.run(25s);
  EXPECT_EQ(owner_of_lease(fixture), "uid-2");
  EXPECT_EQ(run_with_garbage_collector(fixture, 1min), 0);
}

TEST(ReplacedNode, DuringAnOutage) {
  UplinkFixture fixture;
  prepare(fixture);
  fixture.cut_link();
  fixture.cloud.remove(nodes, "edge1");
  fixture.cloud.put(nodes, "edge1", "{}", "uid-2");
  EXPECT_TRUE(fixture.cloud.collect_garbage());
  fixture.restore_link();
  EXPECT_EQ(run_with_garbage_collector(fixture, 1min), 0);
  EXPECT_EQ(owner_of_lease(fixture), "uid-2");
}

}  // namespace
}  // namespace holdfast::agent::uplink::replaced_node
