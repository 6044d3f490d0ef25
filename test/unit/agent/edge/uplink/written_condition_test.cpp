// A condition that a program on the node writes through the agent during an outage is accepted, so
// it arrives, also after a restart of the agent and beside the kubelet's own statuses.

#include <gtest/gtest.h>

#include "sync/wire/read.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::written_condition {
namespace {

using sync::autonomy::LinkState;

class WrittenCondition : public ::testing::TestWithParam<bool> {
 protected:
  int write(const std::string& condition) {
    return fixture_
        .ask({.method = http::Method::patch,
              .target = "/api/v1/nodes/edge1/status",
              .headers = {{"Content-Type", "application/strategic-merge-patch+json"}},
              .body = R"({"status":{"conditions":[)" + condition + "]}}"})
        .status;
  }
  // The status and reason of the condition that the API server has; "" without one.
  std::string in_cloud(const std::string& type) {
    const auto node = sync::wire::parse_json(fixture_.cloud.object("/api/v1/nodes", "edge1"));
    for (const auto& each : node.value().at("status").at("conditions").as_array()) {
      const sync::json::object& condition = sync::wire::as_object(each);
      if (sync::wire::dig_text(condition, {"type"}) != type) continue;
      return std::string(sync::wire::dig_text(condition, {"status"}));
    }
    return "";
  }

  UplinkFixture fixture_;
};

TEST_P(WrittenCondition, OfAnOutageArrives) {
  const bool restarts = GetParam();
  fixture_.cloud.put("/api/v1/nodes", "edge1",
                     R"({"status":{"conditions":[{"type":"Ready","status":"True"},)"
                     R"({"type":"KernelDeadlock","status":"False"}]}})");
  ASSERT_TRUE(fixture_.until(LinkState::connected));
  const std::string own_node = "/api/v1/nodes?fieldSelector=metadata.name%3Dedge1";
  ASSERT_EQ(fixture_.ask(own_node).status, 200);
  fixture_.cut_link();
  ASSERT_TRUE(fixture_.until(LinkState::offline));
  EXPECT_EQ(write(R"({"type":"LinkDown","status":"True"})"), 200);
  EXPECT_EQ(write(R"({"type":"Ready","status":"False"})"), 200);
  if (restarts) {
    fixture_.stop();
    fixture_.start();
    EXPECT_EQ(write(R"({"type":"Ready","status":"Unknown"})"), 200);
  }
  // Someone else writes another condition meanwhile.
  fixture_.cloud.put("/api/v1/nodes", "edge1",
                     R"({"status":{"conditions":[{"type":"Ready","status":"True"},)"
                     R"({"type":"KernelDeadlock","status":"True"}]}})");
  fixture_.restore_link();
  ASSERT_TRUE(fixture_.until(LinkState::connected));
  EXPECT_EQ(in_cloud("LinkDown"), "True");
  EXPECT_EQ(in_cloud("Ready"), restarts ? "Unknown" : "False");
  EXPECT_EQ(in_cloud("KernelDeadlock"), "True");
  EXPECT_NE(fixture_.ask(own_node + "&resourceVersion=0").body.find("LinkDown"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(TheAgent, WrittenCondition, ::testing::Bool(),
                         [](const auto& row) { return row.param ? "Restarts" : "GoesOn"; });

}  // namespace
}  // namespace holdfast::agent::uplink::written_condition
