#include "agent/lab/up/upcoming.h"

#include <gtest/gtest.h>

#include "agent/lab/up/observer.h"

namespace holdfast::agent::lab::up {
namespace {

using namespace std::chrono_literals;

const Moment now{MonoTime(100h), WallTime(1'000'000s)};

sync::Toleration tolerating(const char* key, std::optional<std::int64_t> seconds) {
  sync::Toleration toleration;
  toleration.key = key;
  toleration.operator_name = "Exists";
  toleration.effect = "NoExecute";
  toleration.toleration_seconds = seconds;
  return toleration;
}

sync::Pod pod(const char* name, std::optional<std::int64_t> seconds) {
  sync::Pod made;
  made.metadata.namespace_name = "default";
  made.metadata.name = name;
  made.metadata.uid = name;
  made.spec.node_name = "a-1";
  made.spec.tolerations = {tolerating("node.kubernetes.io/unreachable", seconds),
                           tolerating("node.kubernetes.io/not-ready", seconds)};
  made.status.phase = "Running";
  return made;
}

sync::Node node(const char* ready, Duration since = 60s) {
  sync::Node made;
  made.metadata.name = "a-1";
  sync::NodeCondition condition;
  condition.type = "Ready";
  condition.status = ready;
  condition.last_transition_time = now.wall - since;
  made.status.conditions = {condition};
  return made;
}

sync::Taint no_execute(const char* key, Duration age) {
  sync::Taint taint;
  taint.key = key;
  taint.effect = "NoExecute";
  taint.time_added = now.wall - age;
  return taint;
}

std::string text_of(const std::vector<Upcoming>& all) {
  std::string text;
  for (const Upcoming& one : all) {
    text += one.when == Upcoming::When::at         ? "in " + seconds_text(one.in)
            : one.when == Upcoming::When::withheld ? "withheld"
                                                   : "waiting";
    text += ": " + one.what + " (" + one.reason + ")\n";
  }
  return text;
}

std::string coming(const sync::Node& on, const std::vector<sync::Pod>& pods, Duration silent = 0s,
                   const sync::lifecycle::Options& rules = {}) {
  std::vector<const sync::Pod*> borrowed;
  borrowed.reserve(pods.size());
  for (const sync::Pod& each : pods) borrowed.push_back(&each);
  const LeaseSeen lease{.renewed = "x", .at = now.mono - silent};
  return text_of(upcoming_on(on, borrowed, &lease, rules, now));
}

TEST(UpUpcoming, AHealthyNodeHasNothingUpcoming) {
  EXPECT_EQ(coming(node("True"), {pod("web", 300)}, 20s), "");
}

TEST(UpUpcoming, ASilentNodeWillBeUnknown) {
  EXPECT_EQ(coming(node("True"), {pod("web", 300)}, 38s),
            "in 12s: show a-1 as Unknown (no heartbeat for 38s)\n");
  EXPECT_EQ(coming(node("True"), {}, 70s), "in 0s: show a-1 as Unknown (no heartbeat for 1m10s)\n");
}

TEST(UpUpcoming, TaintsEvictAfterTheToleration) {
  sync::Node lost = node("Unknown");
  lost.spec.taints = {no_execute("node.kubernetes.io/unreachable", 12s)};
  sync::Pod ending = pod("ending", 30);
  ending.metadata.deletion_timestamp = now.wall;
  sync::Pod done = pod("done", 30);
  done.status.phase = "Succeeded";
  sync::Pod bare = pod("bare", 30);
  bare.spec.tolerations.clear();
  EXPECT_EQ(coming(lost, {pod("web", 300), pod("daemon", std::nullopt), ending, done, bare}),
            "in 4m48s: evict default/web from a-1 (unreachable, tolerated for 5m0s)\n"
            "in 0s: evict default/bare from a-1 (unreachable, not tolerated)\n");
}

TEST(UpUpcoming, PodsOfAnAutonomousNodeAreKept) {
  sync::Node lost = node("Unknown");
  lost.metadata.annotations.set("node.beta.openyurt.io/autonomy", "true");
  EXPECT_EQ(coming(lost, {pod("web", 300), pod("daemon", std::nullopt)}),
            "withheld: evict default/web from a-1 (autonomous)\n");
  // A taint that was set before the annotation does not count either; another one does.
  lost.spec.taints = {no_execute("node.kubernetes.io/unreachable", 12s)};
  EXPECT_EQ(coming(lost, {pod("web", 300)}), "withheld: evict default/web from a-1 (autonomous)\n");
  lost.spec.taints.push_back(no_execute("maintenance", 1s));
  EXPECT_EQ(coming(lost, {pod("web", 300)}),
            "in 0s: evict default/web from a-1 (maintenance, not tolerated)\n");
}

TEST(UpUpcoming, AutonomyMayEnd) {
  sync::Node lost = node("Unknown", 30min);
  lost.metadata.annotations.set("node.openyurt.io/autonomy-duration", "2h");
  EXPECT_EQ(coming(lost, {pod("web", 300)}),
            "withheld: evict default/web from a-1 (autonomous, for another 1h30m0s)\n");
  sync::lifecycle::Options off;
  off.autonomy = sync::lifecycle::AutonomyMode::off;
  EXPECT_EQ(coming(lost, {pod("web", 300)}, 0s, off),
            "waiting: evict default/web from a-1 (the node has no NoExecute taint yet)\n");
}

TEST(UpObserved, MakesTheView) {
  Observed observed;
  observed.members = {{.name = "a-1", .site = "a"},
                      {.name = "b-1", .site = "b", .has_agent = false}};
  observed.links = {{"a-1", {"cut", Tone::bad}}, {"b-1", {"up"}}};
  observed.agents = {{"a-1", {.answers = true, .link = "offline", .unsent = 2}}};
  observed.leases = {{"a-1", {.renewed = "x", .at = now.mono - 5s}}};
  observed.nodes = {{"a-1", node("True")}, {"hollow-0", node("True")}};
  observed.nodes.at("hollow-0").metadata.name = "hollow-0";
  sync::Pod web = pod("web", 300);
  sync::ContainerStatus container;
  container.restart_count = 2;
  web.status.container_statuses = {container, container};
  observed.pods = {{"default/web", web}};
  View expected;
  expected.nodes = {{.name = "a-1",
                     .site = "a",
                     .link = {"cut", Tone::bad},
                     .ready = {"True"},
                     .agent = {"offline", Tone::bad},
                     .lease_age = 5s,
                     .unsent = 2,
                     .pods = 1,
                     .pods_ready = 0},
                    {.name = "b-1", .site = "b", .link = {"up"}, .ready = {"-"}, .agent = {"none"}},
                    {.name = "hollow-0", .link = {"-"}, .ready = {"True"}, .agent = {"-"}}};
  expected.pods = {{.name = "default/web",
                    .uid = "web",
                    .node = "a-1",
                    .state = {"Running"},
                    .ready = false,
                    .restarts = 4}};
  EXPECT_EQ(view_of(observed, {}, now), expected);
}

TEST(UpObserved, AnAgentsStatusIsRead) {
  const struct {
    const char* body;
    AgentSeen seen;
  } rows[] = {
      {R"({"link":{"state":"offline"},"outbox":{"entries":3}})", {true, "offline", 3}},
      {R"({"link":{"state":"connected"}})", {true, "connected", -1}},
      {R"({"link":{"state":"connected"},"outbox":{"entries":1e300}})", {true, "connected", -1}},
      {R"({"link":{"state":7}})", {}},
      {R"({"link":[]})", {}},
      {"[]", {}},
      {"<html>", {}},
      {"", {}}};
  for (const auto& row : rows) EXPECT_EQ(agent_seen(row.body), row.seen) << row.body;
}

}  // namespace
}  // namespace holdfast::agent::lab::up
