#include "agent/lab/hollow/command.h"

namespace holdfast::agent::hollow {
namespace {

// The plan from a command line, or the error.
Result<Plan> plan_from(const std::vector<const char*>& words) {
  NodesSettings settings;
  config::Options options("nodes", "");
  add_nodes_options(options, settings);
  std::vector<const char*> argv{"nodes"};
  argv.insert(argv.end(), words.begin(), words.end());
  const auto parsed = options.parse(static_cast<int>(argv.size()), argv.data());
  if (!parsed) return fail(parsed.error());
  return plan_of(settings);
}

TEST(HollowCommand, TheFlagsDescribeTheNodes) {
  const auto plan = plan_from({"--count=5", "--name-prefix=edge-", "--zone=z", "--zones=2",
                               "--labels=a=b", "--taints=k=v:NoSchedule", "--lease-interval=5s"});
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_EQ(plan->nodes,
            (std::vector<std::string>{"edge-0", "edge-1", "edge-2", "edge-3", "edge-4"}));
  EXPECT_EQ(plan->zone_of(3), "z-1");
  EXPECT_EQ(plan->labels_of(0).get("a"), "b");
  ASSERT_EQ(plan->taints.size(), 1U);
  EXPECT_EQ(plan->taints[0].value, "v");
  EXPECT_EQ(plan->lease_interval, std::chrono::seconds(5));
}

TEST(HollowCommand, WithoutFlagsThereAreTenNodes) {
  const auto plan = plan_from({});
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_EQ(plan->nodes,
            (std::vector<std::string>{"hollow-0", "hollow-1", "hollow-2", "hollow-3", "hollow-4",
                                      "hollow-5", "hollow-6", "hollow-7", "hollow-8", "hollow-9"}));
  EXPECT_EQ(NodesSettings().control, "127.0.0.1:7444");
}

TEST(HollowCommand, OneZoneHasThePlainName) {
  const auto plan = plan_from({"--zone=lab"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->zone_of(9), "lab");
}

TEST(HollowCommand, AMistakeNamesItsFlag) {
  const struct {
    const char* flag;
    const char* named;
  } rows[] = {{"--count=0", "--count"},
              {"--count=1000000", "--count"},
              {"--zones=0", "--zones"},
              {"--name-prefix=Edge_", "--name-prefix"},
              {"--labels=a", "--labels"},
              {"--taints=a=b", "--taints"},
              {"--taints=:NoSchedule", "--taints"},
              {"--lease-interval=0s", "--lease-interval"},
              {"--lease-seconds=10", "--lease-seconds"},
              {"--status-interval=0s", "--status-interval"},
              {"--pods-start=-1s", "--pods-start"},
              {"--cpu=many", "--cpu"},
              {"--qps=0", "--qps"},
              {"--qps=1", "--qps"}};
  for (const auto& row : rows) {
    const auto plan = plan_from({row.flag});
    ASSERT_FALSE(plan) << row.flag;
    EXPECT_EQ(plan.error().code, Errc::invalid) << row.flag;
    EXPECT_NE(plan.error().what.find(row.named), std::string::npos) << plan.error().what;
  }
}

}  // namespace
}  // namespace holdfast::agent::hollow
