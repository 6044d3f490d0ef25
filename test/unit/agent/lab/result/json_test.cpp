// Results as JSON: written, read back, and what is refused.

#include "agent/lab/result/json.h"

#include "test/support/fleet_result.h"

namespace holdfast::agent::lab {
namespace {

TEST(ResultJson, IsReadBackAsItWasWritten) {
  RunResult result = test::fleet_result({.sites = 3, .nodes_per_site = 2});
  result.seed = 18'446'744'073'709'551'615ULL;
  result.requests_per_second = 3;
  result.duplicates = 4;
  result.nodes[1].bytes = 5;
  result.violation = Violation{std::chrono::nanoseconds(1), "no-double", "a\n<b>", {"x", "y"}};
  const std::string text = result_to_json(result);
  const auto read = result_from_json(text);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(*read, result);
  EXPECT_EQ(result_to_json(*read), text);
}

TEST(ResultJson, HasReadableNames) {
  RunResult result{.scenario = "a", .mode = "sim", .seed = 1, .duration = std::chrono::minutes(2)};
  result.series = {{"bytes", std::chrono::seconds(1), {1, 0.5}}};
  result.faults = {{std::chrono::seconds(1), std::nullopt, "cut a", "a"}};
  EXPECT_EQ(
      result_to_json(result),
      R"({"kind":"RunResult","version":1,"scenario":"a","about":"","mode":"sim","seed":1,)"
      R"("duration":"2m0s","settings":{},"nodes":[],"pods":[],"workloads":[],"requests":[],)"
            R"("requestsPerSecond":0,)"
      R"("series":[{"name":"bytes","interval":"1s","values":[1,0.5]}],)"
      R"("faults":[{"at":"1s","what":"cut a","target":"a"}],"expectations":[],"events":0,)"
      R"("duplicates":0})"
      "\n");
}

TEST(ResultJson, ErrorsNameThePath) {
  const std::string start = R"({"kind":"RunResult","version":1,)";
  const std::pair<std::string, std::string> cases[] = {
      {"{", "JSON at byte 1: incomplete JSON"},
      {"[]", "not a result: kind: \"RunResult\" expected"},
      {R"({"kind":"PodList"})", "not a result: kind: \"RunResult\" expected"},
      {R"({"kind":"RunResult","version":2})", "version: 1 expected"},
      {start + R"("nodes":{}})", "nodes: an array expected"},
      {start + R"("nodes":[{},{"link":[{"begin":5}]}]})",
       "nodes[1].link[0].begin: a duration such as \"1m30s\" expected"},
      {start + R"("duration":"-1s"})", "duration: a duration such as \"1m30s\" expected"},
      {start + R"("pods":[{"restarts":-1}]})", "pods[0].restarts: a whole number from 0 expected"},
      {start + R"("pods":[{"restarts":1.5}]})", "pods[0].restarts: a whole number from 0 expected"},
      {start + R"("settings":{"a":1}})", "settings.a: a string expected"},
      {start + R"("expectations":[{"met":1}]})", "expectations[0].met: true or false expected"},
      {start + R"("violation":{"lastEvents":[1]}})", "violation.lastEvents[0]: a string expected"},
      {start + R"("series":[{"values":[1]}]})", "series[0].interval: a duration above 0 expected"},
  };
  for (const auto& [text, error] : cases) {
    const auto read = result_from_json(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().what, error);
  }
}

TEST(ResultJson, UnknownFieldsAreIgnored) {
  const auto read = result_from_json(R"({"kind":"RunResult","version":1,"new":[1],"events":3})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->events, 3U);
}

}  // namespace
}  // namespace holdfast::agent::lab
