// Malformed cases: each is an error that names the wrong value, and none stops the runner.

#include <algorithm>
#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "platform/integers.h"
#include "platform/random.h"
#include "test/cases/runner.h"

namespace holdfast::cases {
namespace {

namespace json = boost::json;

// Runs one case and returns what is printed about it.
std::string printed(const std::string& one) {
  std::ostringstream out;
  Tally tally;
  run_cases("x.json", json::parse(R"({"cases":[)" + one + "]}"), out, tally);
  std::string text = out.str();
  while (text.ends_with('\n')) text.pop_back();
  return text.empty() ? "passed" : text;
}

struct Row {
  std::string malformed;
  std::string error;  // what follows "ERROR x.json n: cases[0]."
};

void expect_errors(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(printed(row.malformed), "ERROR x.json n: cases[0]." + row.error) << row.malformed;
  }
}

// A lifecycle case with these members besides its name and expectation.
std::string lifecycle(const std::string& kind, const std::string& steps,
                      const std::string& more = "") {
  return R"({"name":"n","kind":")" + kind + R"(","variants":["k8s-head"],"steps":[)" + steps +
         R"(],"expect":[{"afterStep":0}])" + more + "}";
}

std::string with_call(const std::string& fn, const std::string& args) {
  return lifecycle("toleration", R"({"at":0,"call":{"fn":")" + fn + R"(","args":{)" + args + "}}}");
}

std::string with_set(const std::string& object) {
  return lifecycle("taint-eviction", R"({"at":0,"set":[)" + object + "]}");
}

// A scheduling case with this input.
std::string operation(const std::string& op, const std::string& given,
                      const std::string& expect = "") {
  return R"({"id":"n","op":")" + op + R"(","profiles":["v1.32"],"given":{)" + given +
         R"(},"expect":{)" + expect + "}}";
}

std::string pod(const std::string& name) {
  return R"({"metadata":{"name":")" + name + R"(","uid":")" + name + R"("},"spec":{}})";
}

TEST(MalformedCase, FileAndCaseAreNamed) {
  EXPECT_EQ(printed("{}"), "ERROR x.json: cases[0].name: is missing");
  EXPECT_EQ(printed("null"), "ERROR x.json: cases[0]: expected an object, got null");
  const std::string good = lifecycle("monitor", R"({"at":0,"tick":true})");
  EXPECT_EQ(printed(good), "passed");
  EXPECT_EQ(printed(good + "," + good),
            "ERROR x.json n: cases[1].name: names an earlier case of this file");
  std::ostringstream out;
  Tally tally;
  for (const char* const content : {"[]", "{}", R"({"cases":[]})", R"({"cases":{}})"}) {
    run_cases("x.json", json::parse(content), out, tally);
    EXPECT_EQ(out.str(), "ERROR x.json: cases: expected a list with at least one case\n");
    out.str("");
  }
  EXPECT_EQ(tally.errors, 4);
}

TEST(MalformedCase, TheCasesAfterItRun) {
  std::ostringstream out;
  Tally tally;
  const std::string good = R"({"name":"b","kind":"monitor","variants":["k8s-head"],)"
                           R"("steps":[{"at":0,"tick":true}],"expect":[{"afterStep":0}]})";
  run_cases("x.json", json::parse(R"({"cases":[7,)" + good + "]}"), out, tally);
  EXPECT_EQ(out.str(), "ERROR x.json: cases[0]: expected an object, got 7\n");
  EXPECT_EQ(tally.passed, 1);
  EXPECT_EQ(tally.errors, 1);
}

TEST(MalformedCase, PartsOfLifecycleCases) {
  const std::string tick = R"({"at":0,"tick":true})";
  expect_errors({
      {R"({"name":"n"})", "kind: is missing"},
      {R"({"name":"n","kind":"monitor"})", "variants: is missing"},
      {R"({"name":"n","kind":"monitor","variants":[]})", "variants: is empty"},
      {R"({"name":"n","kind":"monitor","variants":[1]})", "variants[0]: expected a string, got 1"},
      {R"({"name":"n","kind":"monitor","variants":["k8s-head"],"steps":[]})", "steps: is empty"},
      {R"({"name":"n","kind":"monitor","variants":["k8s-head"],"steps":[{}],"expect":[]})",
       "expect: is empty"},
      {R"({"name":"n","kind":"monitor","variants":["k8s-head"],"steps":[{}],"expect":[{}]})",
       "expect[0].afterStep: is missing"},
      {R"({"name":"n","kind":"monitor","variants":["k8s-head"],"steps":[{}],)"
       R"("expect":[{"afterStep":1}]})",
       "expect[0].afterStep: expected a whole number from 0 to 0, got 1"},
      {lifecycle("monitor", tick, R"(,"epoch0":"2015-01-01")"),
       "epoch0: not an RFC 3339 time: \"2015-01-01\""},
      {lifecycle("monitor", tick, R"(,"epoch0":"2261-12-31T00:00:00Z")"),
       "epoch0: expected a time between 1970 and 2200, got \"2261-12-31T00:00:00Z\""},
      {lifecycle("monitor", tick, R"(,"config":{"nodeMonitorGracePeriod":-40})"),
       "config.nodeMonitorGracePeriod: expected more than 0 seconds"},
      {lifecycle("monitor", tick, R"(,"config":{"nodeEvictionRate":1e300})"),
       "config.nodeEvictionRate: expected a number from 0 to 1000000000"},
      {lifecycle("monitor", tick, R"(,"config":{"largeClusterSizeThreshold":0.5})"),
       "config.largeClusterSizeThreshold: expected a whole number from 0 to 1000000000, got 0.5"},
  });
}

TEST(MalformedCase, Steps) {
  expect_errors({
      {lifecycle("monitor", "7"), "steps[0]: expected an object, got 7"},
      {lifecycle("monitor", "{}"), "steps[0].at: is missing"},
      {lifecycle("monitor", R"({"at":"0"})"), "steps[0].at: expected a number, got \"0\""},
      {lifecycle("monitor", R"({"at":1e300})"),
       "steps[0].at: expected at most 1000000000 seconds, got 1e+300"},
      {lifecycle("monitor", R"({"at":5,"tick":true},{"at":4,"tick":true})"),
       "steps[1].at: lies before the time of the previous step"},
      {lifecycle("monitor", R"({"at":0,"run":"labels"})"), "steps[0]: node: is missing"},
      {lifecycle("monitor", R"({"at":0,"delete":[{"kind":"Node","name":"a"}]})"),
       "steps[0].delete[0]: delete of an object that is not there"},
      {lifecycle("monitor", R"({"at":0,"update":[{"kind":"Node","name":"a"}]})"),
       "steps[0].update[0]: update of an object that is not there"},
      {lifecycle("monitor", R"({"at":0,"fault":{"status":1e18}})"),
       "steps[0].fault.status: expected a whole number from 400 to 599, got 1000000000000000000"},
  });
}

TEST(MalformedCase, Expectations) {
  const auto expecting = [](const std::string& expectation) {
    return R"({"name":"n","kind":"monitor","variants":["k8s-head"],"steps":[{"at":0,"tick":true}],)"
           R"("expect":[{"afterStep":0,)" +
           expectation + "}]}";
  };
  expect_errors({
      {expecting(R"("nodes":[])"), "expect[0].nodes: expected an object, got []"},
      {expecting(R"("nodes":{"a.b":7})"), "expect[0].nodes[\"a.b\"]: expected an object, got 7"},
      {expecting(R"("podsDeleted":[1])"), "expect[0].podsDeleted[0]: expected a string, got 1"},
      {expecting(R"("writes":{"patch nodes":"1"})"),
       "expect[0].writes[\"patch nodes\"]: expected an object, got \"1\""},
      {expecting(R"("metrics":[{"name":"node_collector_zone_size"}])"),
       "expect[0].metrics[0].value: is missing"},
      {expecting(R"("metrics":[{"name":"node_collector_speed","value":0}])"),
       "expect[0].metrics[0].name: unknown metric node_collector_speed"},
      {expecting(R"("variants":"k8s-head")"),
       "expect[0].variants: expected a list, got \"k8s-head\""},
  });
}

TEST(MalformedCase, ObjectsOfTheServer) {
  const std::string node = R"({"kind":"Node","metadata":{"name":"a"}})";
  expect_errors({
      {with_set("[]"), "steps[0].set[0]: expected an object, got []"},
      {with_set("{}"), "steps[0].set[0].metadata: is missing"},
      {with_set(R"({"metadata":{"name":""}})"), "steps[0].set[0].metadata.name: is empty"},
      {with_set(R"({"metadata":{"name":"a"}})"), "steps[0].set[0].kind: is missing"},
      {with_set(R"({"kind":"Cat","metadata":{"name":"a"}})"),
       "steps[0].set[0].kind: unknown kind Cat"},
      {with_set(R"({"kind":"Pod","metadata":{"name":"a/b"}})"),
       "steps[0].set[0].metadata.name: contains a slash"},
      {with_set(R"({"kind":"Node","metadata":{"name":"a"},"spec":{"taints":[7]}})"),
       "steps[0].set[0]: Node: spec.taints[0]: expected an object"},
      {with_set(node + R"(]},{"at":0,"update":[{"kind":"Node","name":"a"})"),
       "steps[1].update[0].mergePatch: is missing"},
      {with_set(node + R"(]},{"at":0,"update":[{"kind":"Node","name":"a",)"
                       R"("mergePatch":{"metadata":{"name":"b"}}})"),
       "steps[1].update[0].mergePatch: changes the kind, namespace or name"},
      {with_set(node + R"(]},{"at":0,"update":[{"kind":"Node","name":"a",)"
                       R"("mergePatch":{"metadata":null}})"),
       "steps[1].update[0]: metadata: is missing"},
  });
}

TEST(MalformedCase, Calls) {
  expect_errors({
      {with_call("shard", R"("value":"a","shards":0)"),
       "steps[0].call.args.shards: expected a whole number from 1 to 1000000, got 0"},
      {with_call("zoneKey", ""), "steps[0].call.args.node: is missing"},
      {with_call("zoneKey", R"("node":{"metadata":7})"),
       "steps[0].call.args.node: Node: metadata: expected an object"},
      {with_call("limiterForZone", R"("zoneSize":-1,"state":"Normal")"),
       "steps[0].call.args.zoneSize: expected a whole number from 0 to 1000000000, got -1"},
      {with_call("limiterForZone", R"("zoneSize":1,"state":"Odd")"),
       "steps[0].call.args.state: unknown zone state \"Odd\""},
      {with_call("toleratesTaint", R"("taint":{})"), "steps[0].call.args.toleration: is missing"},
      {with_call("matchingTolerations", R"("taints":{},"tolerations":[])"),
       "steps[0].call.args.taints: expected a list, got {}"},
      {with_call("queue.add", R"("value":"a")"), "steps[0].call.fn: queue.add before queue.new"},
      {with_call("queue.new", R"("limiter":"bucket")"), "steps[0].call.args.qps: is missing"},
      {with_call("timed.add", R"("key":"a","fireAt":1e18)"),
       "steps[0].call.args.fireAt: expected at most 1000000000 seconds, got 1000000000000000000"},
      {with_call("timed.fly", R"("key":"a")"), "steps[0].call.fn: unknown function timed.fly"},
      {lifecycle("rate-queue", R"({"at":0,"call":{"fn":"queue.new"}},)"
                               R"({"at":0,"call":{"fn":"queue.add","args":{"value":"a"}}},)"
                               R"({"at":0,"call":{"fn":"queue.try","args":{"script":[{"value":"a",)"
                               R"("replies":[{"done":false,"retryAfter":-1}]}]}}})"),
       "steps[2].call.args.script[0].replies[0].retryAfter: is negative"},
  });
}

TEST(MalformedCase, PartsOfSchedulingCases) {
  expect_errors({
      {R"({"id":"n","op":"qosClass"})", "profiles: is missing"},
      {R"({"id":"n","given":{},"profiles":["v1.32"]})", "op: is missing"},
      {R"({"id":"n","op":"qosClass","profiles":["v1.32"]})", "expect: is missing"},
      {R"({"id":"n","op":"qosClass","profiles":["v1.32"],"expect":{}})", "given: is missing"},
      {operation("qosClass", ""), "given.pod: is missing"},
      {operation("qosClass", R"("pod":7)"), "given.pod: Pod: expected an object"},
      {operation("qosClass", R"("nodes":["a","a"])"), "given.nodes[1]: names an earlier node"},
      {operation("qosClass", R"("nodes":[""])"), "given.nodes[0]: the node has no name"},
      {operation("pdbPartition", R"("pods":[)" + pod("a") + "," + pod("a") + "]"),
       "given.pods[1]: has the uid a of an earlier pod"},
      {operation("filter", R"("nodes":["a"],"filters":[{"name":"Fly"}],"pod":)" + pod("p")),
       "given.filters[0].name: unknown filter Fly"},
      {operation("filter", R"("pod":)" + pod("p")), "given.nodes: expected one node"},
  });
}

TEST(MalformedCase, EmptyListsAndUnknownNames) {
  const std::string preemptor = R"("preemptor":)" + pod("p");
  expect_errors({
      {operation("earliestStart", R"("victims":[])"), "given.victims: is empty"},
      {operation("selectHost", R"("scores":[])"), "given.scores: is empty"},
      {operation("selectCandidate", R"("candidates":[])"), "given.candidates: is empty"},
      {operation("selectCandidate", R"("candidates":[{"node":"a","victims":[]}])"),
       "given.candidates[0]: the candidate has no victims"},
      {operation("dryRun", R"("potentialNodes":["a"],)" + preemptor),
       "given.potentialNodes[0]: no node has this name"},
      {operation("dryRun", R"("potentialNodes":[],)" + preemptor,
                 R"("candidates":[],)"
                 R"("nodeStatuses":{"a":null})"),
       "expect.nodeStatuses.a: no node has this name"},
      {operation("callExtenders", R"("candidates":[],)" + preemptor),
       "expect.candidates: is missing"},
      {operation("postFilter", preemptor), "expect.nominatedNodeOneOf: is missing"},
      {operation("preempt", preemptor), "expect.event: is missing"},
      {operation("handleFailure", R"("result":{"code":"Success"},"pod":)" + pod("p")),
       "given.result.code: expected the code of a failure"},
      {operation("queueTrace", R"("steps":[{"op":"fail","pod":"a"}])"),
       "given.steps[0].pod: no earlier step adds this pod"},
      {operation("queueTrace",
                 R"("steps":[{"op":"add","pod":)" + pod("a") + R"(},{"op":"fail","pod":"a"}])"),
       "given.steps[1].pod: Pod a is already present in the active queue"},
  });
}

TEST(MalformedCase, AbsurdNumbers) {
  expect_errors({
      {operation("queueTrace", R"("steps":[{"op":"advance","seconds":1e18}])"),
       "given.steps[0].seconds: expected a whole number from 0 to 100000, got 1000000000000000000"},
      {operation("backoff", R"("initialMillis":-1,"maxMillis":1,"attempts":1)"),
       "given.initialMillis: expected a whole number from 1 to 1000000000, got -1"},
      {operation("numFeasibleNodes", R"("numNodes":5,"percentage":-1)"),
       "given.percentage: expected a whole number from 0 to 100, got -1"},
      {operation("numCandidates", R"("numNodes":5,"args":{"minCandidateNodesPercentage":101})"),
       "given.args: minCandidateNodesPercentage: not in valid range (0, 100)"},
      {operation("kubeletDistance",
                 R"("insufficient":[{"resource":"cpu","quantity":1e300}],"pod":)" + pod("p")),
       "given.insufficient[0].quantity: expected a whole number from 0 to 1125899906842624, "
       "got 1e+300"},
      {operation("normalize", R"("scores":[9223372036854775807])"),
       "given.scores[0]: expected a whole number from -1000000000 to 1000000000, "
       "got 9223372036854775807"},
      {operation("fitError", R"("numAllNodes":-1)"),
       "given.numAllNodes: expected a whole number from 0 to 1000000000, got -1"},
  });
}

// Changes one random value of a case.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  template <class T>
  const T& any_of(const std::vector<T>& list) {
    return list[to_size(random_.below(list.size()))];
  }

  void mutate(json::value& one) {
    std::vector<json::value*> all;
    collect(one, all);
    json::value& chosen = *any_of(all);
    switch (random_.below(4)) {
      case 0:
        chosen = json::parse(any_of(replacements_));
        break;
      case 1:
        shrink(chosen);
        break;
      case 2:
        duplicate(chosen);
        break;
      default:
        chosen = *any_of(all);
    }
  }

 private:
  static void collect(json::value& value, std::vector<json::value*>& all) {
    all.push_back(&value);
    if (value.is_object()) {
      for (auto& member : value.get_object()) collect(member.value(), all);
    }
    if (value.is_array()) {
      for (json::value& element : value.get_array()) collect(element, all);
    }
  }

  // Removes a member or an element, or the end of a string.
  void shrink(json::value& value) {
    if (value.is_string()) value.get_string().resize(value.get_string().size() / 2);
    if (value.is_array() && !value.get_array().empty()) value.get_array().pop_back();
    if (!value.is_object() || value.get_object().empty()) return;
    const auto at = static_cast<std::ptrdiff_t>(random_.below(value.get_object().size()));
    value.get_object().erase(value.get_object().begin() + at);
  }

  void duplicate(json::value& value) {
    if (!value.is_array() || value.get_array().empty()) return;
    json::array& list = value.get_array();
    json::value copy = list[to_size(random_.below(list.size()))];
    list.push_back(std::move(copy));
  }

  Random random_;
  std::vector<std::string> replacements_ = {"null",
                                            "[]",
                                            "{}",
                                            "\"\"",
                                            "true",
                                            "7",
                                            "[7]",
                                            "-1",
                                            "1e300",
                                            "-9223372036854775808",
                                            "18446744073709551615",
                                            "0.5",
                                            "\"2261-12-31T23:59:59Z\"",
                                            "\"1e1000\"",
                                            "\"/\""};
};

// The cases of all files in a folder, each as a document with one case.
std::vector<json::value> golden_cases(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<json::value> all;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const json::value content = json::parse(text);
    for (const json::value& one : content.at("cases").as_array()) all.push_back(one);
  }
  return all;
}

TEST(MalformedCase, MutatedGoldenCasesNeverStopTheRunner) {
  const std::filesystem::path root = HOLDFAST_SOURCE_ROOT "/../shared/cases";
  if (!std::filesystem::exists(root)) GTEST_SKIP() << "the golden cases are not here";
  constexpr int rounds = 400;
  for (const char* const folder : {"lifecycle", "preemption"}) {
    const std::vector<json::value> cases = golden_cases(root / folder);
    Mutator mutator(1);
    Tally tally;
    for (int round = 0; round < rounds; ++round) {
      json::value one = mutator.any_of(cases);
      mutator.mutate(one);
      std::ostringstream out;
      run_cases(folder, json::object{{"cases", json::array{one}}}, out, tally);
    }
    EXPECT_EQ(tally.passed + tally.failed + tally.errors + tally.other, rounds);
    EXPECT_GT(tally.errors, rounds / 10);
  }
}

}  // namespace
}  // namespace holdfast::cases
