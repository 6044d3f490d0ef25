#include "agent/lab/up/request.h"

#include <gtest/gtest.h>

#include "agent/lab/up/command.h"
#include "agent/lab/up/fleet.h"

namespace holdfast::agent::lab::up {
namespace {

using Words = std::vector<std::string>;

Scenario small_fleet() {
  FleetSettings settings;
  settings.sites = {"edge:3", "shop:1"};
  return fleet_of(settings).value();
}

// What a command line does, a line for each node; or its error.
std::string done_by(const std::string& command, ClientSettings settings) {
  const auto request = request_of(command, settings);
  if (!request) return request.error().what;
  const auto parsed = parse_request(json_of(*request));
  if (!parsed) return parsed.error().what;
  EXPECT_EQ(*parsed, *request);
  const auto made = command_of(*parsed, small_fleet());
  if (!made) return made.error().what;
  std::string text;
  for (const ScenarioEvent& event : made->events) text += words_of(made->verb, event) + "\n";
  return text;
}

TEST(UpRequest, CommandsAreActionsOfScenarios) {
  const struct {
    const char* command;
    ClientSettings settings;
    const char* done;
  } rows[] = {
      {"cut", {.words = {"edge-2"}}, "cut edge-2\n"},
      {"cut",
       {.words = {"edge"}, .direction = "up", .kind = "refuse", .duration = "47m"},
       "cut edge-1, up only, connections are refused for 47m0s\n"
       "cut edge-2, up only, connections are refused for 47m0s\n"
       "cut edge-3, up only, connections are refused for 47m0s\n"},
      {"cut",
       {.words = {"cloud", "shop"}, .direction = "down", .kind = "reset"},
       "cut cloud, down only, connections are reset\n"
       "cut shop-1, down only, connections are reset\n"},
      {"heal", {.words = {"all"}}, "heal edge-1\nheal edge-2\nheal edge-3\nheal shop-1\n"},
      {"degrade", {.words = {"edge-1", "4g"}}, "degrade edge-1 to 4g\n"},
      {"kill", {.words = {"edge-1"}}, "kill holdfast-edge of edge-1\n"},
      {"kill",
       {.words = {"edge-1"}, .process = "node-agent", .duration = "10s"},
       "kill holdfast-node of edge-1 for 10s\n"},
      {"kill", {.words = {"cloud"}}, "kill holdfast-cloud\n"},
      {"pause", {.words = {"api-server"}, .duration = "1m"}, "pause API server for 1m0s\n"},
      {"resume", {.words = {"edge-3"}}, "resume holdfast-edge of edge-3\n"},
      {"power-loss", {.words = {"shop"}, .duration = "1m"}, "power loss of shop-1 for 1m0s\n"},
      {"clock", {.words = {"edge-1", "+1h"}}, "clock of edge-1 by 1h0m0s\n"},
      {"clock", {.words = {"edge-1"}, .by = "-90s"}, "clock of edge-1 by -1m30s\n"},
      {"disk-full", {.words = {"edge-1"}}, "disk full on edge-1\n"}};
  for (const auto& row : rows) EXPECT_EQ(done_by(row.command, row.settings), row.done);
}

TEST(UpRequest, MistakesAreNamed) {
  const struct {
    const char* command;
    ClientSettings settings;
    const char* error;
  } rows[] = {
      {"cut", {.words = {"egde-1"}}, "cut: unknown name \"egde-1\"; did you mean \"edge-1\"?"},
      {"cut", {.words = {"shpo"}}, "cut: unknown name \"shpo\"; did you mean \"shop\"?"},
      {"cut",
       {.words = {"edge-9"}},
       "cut: unknown node \"edge-9\": the last one of site edge is edge-3"},
      {"cut",
       {.words = {"edge-1", "x"}},
       "cut[1]: unknown name \"x\"; expected a site, a node, all "
       "or cloud"},
      {"cut",
       {.words = {"edge-1"}, .direction = "upp"},
       "direction: unknown direction \"upp\"; did you mean \"up\"?"},
      {"cut",
       {.words = {"edge-1"}, .duration = "soon"},
       "for: not a duration like 47m or 1h30m: "
       "\"soon\""},
      {"cut", {}, "cut: name sites, nodes, cloud or all"},
      {"heal", {.words = {"all"}, .duration = "1m"}, "for: heal happens once: it has no \"for\""},
      {"degrade",
       {.words = {"edge-1", "5g"}},
       "link: unknown profile \"5g\"; did you mean \"4g\"?"},
      {"degrade",
       {.words = {"edge-1"}},
       "degrade: name nodes and then the quality of their links, such as `degrade edge-1 4g`"},
      {"clock",
       {.words = {"edge-1"}},
       "clock: name nodes and then by how much their clocks jump, such as `clock edge-1 +1h`"},
      {"kill",
       {.words = {"cloud"}, .process = "edge"},
       "process: unknown key; known are at, for and kill"},
      {"power-loss", {.words = {"edge-1"}}, "power-loss: say with --for when the node boots again"},
      {"status", {}, "\"status\" is no command to a running cluster"}};
  for (const auto& row : rows) EXPECT_EQ(done_by(row.command, row.settings), row.error);
}

TEST(UpRequest, HostileBodiesAreRefused) {
  const struct {
    std::string body;
    const char* error;
  } rows[] = {{"[]", "expected an object"},
              {R"({"action":1})", "action: expected a string"},
              {R"({"targets":"a"})", "targets: expected a list"},
              {R"({"targets":[1]})", "targets: expected a string"},
              {R"({"fields":[]})", "fields: expected an object"},
              {R"({"fields":{"for":5}})", "for: expected a string"},
              {R"({"x":1})", "unexpected field \"x\""},
              {R"({"targets":["a","b","c"]})", "targets: more than 2"},
              {R"({"fields":{"a":"","b":""}})", "fields: more than 1"}};
  for (const auto& row : rows) {
    const auto parsed = parse_request(row.body, {.targets = 2, .fields = 1});
    ASSERT_FALSE(parsed) << row.body;
    EXPECT_EQ(parsed.error().what, row.error);
  }
  const Scenario fleet = small_fleet();
  const Request bad[] = {{.action = "cutt", .targets = {"edge-1"}},
                         {.action = "rollout", .targets = {"web"}},
                         {.action = "cut", .targets = {"edge-1"}, .fields = {{"at", "5s"}}},
                         {.action = "cut", .targets = {"edge-1"}, .fields = {{"heal", "edge-1"}}},
                         {.action = "cut", .targets = {}},
                         {.action = "", .targets = {"edge-1"}}};
  for (const Request& request : bad) EXPECT_FALSE(command_of(request, fleet)) << json_of(request);
  EXPECT_EQ(command_of(bad[0], fleet).error().what,
            "unknown action \"cutt\"; did you mean \"cut\"?");
}

}  // namespace
}  // namespace holdfast::agent::lab::up
