// The JSON of requests to extenders and of their answers, also of invalid ones.

#include "sync/schedule/preemption/extender_wire.h"

#include "sync/wire/json.h"
#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using test::make_pod;

Candidate candidate(Symbols& symbols) {
  return {"n1", {view_of(make_pod("v", 0, "100", "n1"), symbols)}, 2};
}

TEST(ExtenderWire, VictimsAreWholePodsOrUids) {
  Symbols symbols;
  ExtenderSettings extender;
  const Pod pod = make_pod("p", 9, "1");
  const json::value whole =
      wire::parse_json(preempt_request(extender, pod, {candidate(symbols)})).value();
  EXPECT_EQ(whole.at("Pod").at("metadata").at("name"), "p");
  EXPECT_TRUE(whole.at("NodeNameToMetaVictims").is_null());
  const json::value& victims = whole.at("NodeNameToVictims").at("n1");
  EXPECT_EQ(victims.at("NumPDBViolations"), 2);
  EXPECT_EQ(victims.at("Pods").at(0).at("spec").at("nodeName"), "n1");

  extender.node_cache_capable = true;
  const json::value meta =
      wire::parse_json(preempt_request(extender, pod, {candidate(symbols)})).value();
  EXPECT_TRUE(meta.at("NodeNameToVictims").is_null());
  EXPECT_EQ(wire::serialize(meta.at("NodeNameToMetaVictims")),
            R"({"n1":{"Pods":[{"UID":"uid-v"}],"NumPDBViolations":2}})");
}

TEST(ExtenderWire, AnswersAreReadWhateverTheirCase) {
  const auto answer = read_preempt_answer(
      R"({"nodeNameToMetaVictims":{"n1":{"pods":[{"uid":"a"}],"numPDBViolations":1},"n2":null}})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, (ExtenderAnswer{{"n1", {{"a"}, 1}}, {"n2", {}}}));
  EXPECT_EQ(read_preempt_answer("{}").value(), ExtenderAnswer{});
}

TEST(ExtenderWire, GarbageIsNamed) {
  const auto problem = [](std::string_view body) {
    const auto answer = read_preempt_answer(body);
    return answer ? std::string("fine") : answer.error().what;
  };
  EXPECT_NE(problem("not json"), "fine");
  EXPECT_EQ(problem("7"), "extender's answer: expected an object");
  EXPECT_EQ(problem(R"({"NodeNameToMetaVictims":[]})"),
            "extender's answer: NodeNameToMetaVictims: expected an object");
  EXPECT_EQ(problem(R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":7}]}}})"),
            "extender's answer: NodeNameToMetaVictims[n1]: Pods[0].UID: expected a string");
  EXPECT_EQ(problem(R"({"NodeNameToMetaVictims":{"n1":{"NumPDBViolations":"x"}}})"),
            "extender's answer: NodeNameToMetaVictims[n1]: NumPDBViolations: expected a number");
}

TEST(ExtenderWire, TheUrlHasOneSlashBeforeTheVerb) {
  EXPECT_EQ(extender_url("http://x/y//", "preempt"), "http://x/y/preempt");
}

}  // namespace
}  // namespace holdfast::sync::schedule
