#include "agent/lab/up/fleet.h"

#include <gtest/gtest.h>

#include "agent/lab/up/observed.h"
#include "platform/fs/file.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent::lab::up {
namespace {

std::string nodes_of(const FleetSettings& settings) {
  const auto fleet = fleet_of(settings);
  if (!fleet) return fleet.error().what;
  std::string text;
  for (const Member& member : members_of(*fleet)) {
    text += (text.empty() ? "" : " ") + member.site + ":" + member.name;
  }
  return text;
}

TEST(UpFleet, FlagsMakeSitesAndNodes) {
  EXPECT_EQ(nodes_of({}), "edge:edge-1 edge:edge-2");
  EXPECT_EQ(nodes_of({.nodes = 1}), "edge:edge-1");
  EXPECT_EQ(nodes_of({.sites = {"a:2", "b"}}), "a:a-1 a:a-2 b:b-1");
}

TEST(UpFleet, FlagsOfTheProgramsAreChecked) {
  const auto fleet = fleet_of({.cloud_flags = {"node-monitor-grace-period=90s", "--controllers=*",
                                               "-taint-eviction-controller"},
                               .edge_flags = {"lease-renew-interval=1s"}});
  ASSERT_TRUE(fleet) << fleet.error().what;
  EXPECT_EQ(fleet->cloud.at("node-monitor-grace-period"), "90s");
  EXPECT_EQ(fleet->cloud.at("controllers"), "*,-taint-eviction-controller");
  EXPECT_EQ(fleet->edge.at("lease-renew-interval"), "1s");
}

TEST(UpFleet, MistakesAreNamed) {
  const struct {
    FleetSettings settings;
    const char* error;
  } rows[] = {
      {{.nodes = -1}, "--nodes: must be above zero"},
      {{.nodes = 2, .sites = {"a:1"}}, "--nodes and --sites exclude each other"},
      {{.sites = {"a:x"}}, "--sites: \"a:x\" is not NAME:NODES"},
      {{.sites = {":2"}}, "--sites: \":2\" is not NAME:NODES"},
      {{.nodes = 51},
       "51 nodes are too many for this machine: at most 50, because each is a few processes; "
       "`holdfast-lab sim` and `holdfast-lab nodes` can do more"},
      {{.nodes = 1, .scenario = "x.yaml"}, "--scenario excludes --nodes and --sites"},
      {{.cloud_flags = {"grace"}}, "--cloud-flag: \"grace\" is not flag=value"},
      {{.edge_flags = {"--=1"}}, "--edge-flag: \"--=1\" is not flag=value"}};
  for (const auto& row : rows) EXPECT_EQ(nodes_of(row.settings), row.error);
  const struct {
    FleetSettings settings;
    const char* named;
  } wrong[] = {{{.sites = {"A_b:1"}}, "A_b"},
               {{.sites = {"a:0"}}, "nodes"},
               {{.sites = {"a:1", "a:1"}}, "two sites"},
               {{.cloud_flags = {"node-monitor-grace-perod=4s"}}, "did you mean"},
               {{.cloud_flags = {"node-monitor-grace-period=soon"}}, "soon"},
               {{.scenario = "/nowhere/x.yaml"}, "/nowhere/x.yaml"}};
  for (const auto& row : wrong) {
    const auto fleet = fleet_of(row.settings);
    ASSERT_FALSE(fleet) << row.named;
    EXPECT_NE(fleet.error().what.find(row.named), std::string::npos) << fleet.error().what;
  }
}

TEST(UpFleet, AScenarioGivesAllButItsEvents) {
  const test::ScratchDir scratch;
  const std::string file = scratch.path() / "s.yaml";
  ASSERT_TRUE(fs::atomic_write(file,
                               "name: s\nduration: 1h\nfleet:\n  sites:\n  - {name: a}\n"
                               "cloud: {node-monitor-grace-period: 90s}\n"
                               "workloads:\n- {deployment: web, replicas: 2}\n"
                               "events:\n- {at: 1m, cut: a}\nexpect:\n- {restarts: 0}\n"));
  const auto fleet = fleet_of({.scenario = file, .cloud_flags = {"node-monitor-grace-period=50s"}});
  ASSERT_TRUE(fleet) << fleet.error().what;
  EXPECT_EQ(fleet->cloud.at("node-monitor-grace-period"), "50s");
  EXPECT_EQ(fleet->workloads.size(), 1U);
  EXPECT_TRUE(fleet->events.empty());
  EXPECT_TRUE(fleet->expectations.empty());
}

}  // namespace
}  // namespace holdfast::agent::lab::up
