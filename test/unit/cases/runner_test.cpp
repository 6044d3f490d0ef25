// The case runner on small files: what passes, what fails and how it is told.

#include "test/cases/runner.h"

#include <fstream>
#include <sstream>

#include "test/support/scratch_dir.h"

namespace holdfast::cases {
namespace {

// Runs one file with these cases, without the brackets round them.
std::string run(const std::string& list) {
  const test::ScratchDir scratch;
  std::ofstream(scratch.path() / "x.json")
      << R"({"schema":"nlc-cases/1","cases":[)" << list << "]}";
  std::ostringstream out;
  Tally tally;
  run_folder(scratch.path(), out, tally);
  out << tally.passed << " passed, " << tally.failed << " failed";
  if (tally.errors > 0) out << ", " << tally.errors << " errors";
  return out.str();
}

std::string one(const std::string& kind, const std::string& variant, const std::string& steps,
                const std::string& expect) {
  return R"({"name":"n","kind":")" + kind + R"(","variants":[")" + variant + R"("],"config":{},)" +
         R"("epoch0":"2015-01-01T12:00:00Z","steps":[)" + steps + R"(],"expect":[)" + expect + "]}";
}

const std::string zone_step = R"({"at":0,"call":{"fn":"zoneKey","args":{"node":{"metadata":)"
                              R"({"name":"a"}}}}})";

// An expectation that compares nothing.
const std::string nothing = R"({"afterStep":0})";

TEST(CaseRunner, TellsTheFirstDifferenceOfEachCase) {
  const struct {
    std::string list;
    std::string expect;
  } rows[] = {
      {one("zone-state", "k8s-head", zone_step, R"({"afterStep":0,"result":""})"),
       "1 passed, 0 failed"},
      {one("zone-state", "k8s-head", zone_step, R"({"afterStep":0,"result":"z"})"),
       "FAIL x.json n: k8s-head: after step 0: result: expected \"z\", got \"\"\n"
       "0 passed, 1 failed"},
      {one("zone-state", "k8s-head", zone_step,
           R"({"afterStep":0,"variants":["openyurt"],"result":"z"})"),
       "1 passed, 0 failed"},
      {one("zone-state", "k8s-head", zone_step, R"({"afterStep":0,"colour":"red"})"),
       "ERROR x.json n: cases[0].expect[0].colour: unknown expectation\n"
       "0 passed, 0 failed, 1 errors"},
      {one("cooking", "k8s-head", zone_step, nothing),
       "ERROR x.json n: cases[0].kind: unknown kind cooking\n0 passed, 0 failed, 1 errors"},
      {one("monitor", "k8s-9.9", zone_step, nothing),
       "ERROR x.json n: cases[0].variants[0]: unknown variant\n0 passed, 0 failed, 1 errors"},
      {one("monitor", "k8s-head", R"({"at":0,"run":"dishes"})", nothing),
       "ERROR x.json n: cases[0].steps[0].run: unknown run dishes\n0 passed, 0 failed, 1 errors"},
      {one("monitor", "k8s-head", R"({"at":0,"paint":true})", nothing),
       "ERROR x.json n: cases[0].steps[0].paint: unknown step\n0 passed, 0 failed, 1 errors"},
      {one("toleration", "k8s-head", R"({"at":0,"call":{"fn":"fly","args":{}}})", nothing),
       "ERROR x.json n: cases[0].steps[0].call.fn: unknown function fly\n"
       "0 passed, 0 failed, 1 errors"},
      {"7", "ERROR x.json: cases[0]: expected an object, got 7\n0 passed, 0 failed, 1 errors"},
  };
  for (const auto& row : rows) EXPECT_EQ(run(row.list), row.expect);
}

TEST(CaseRunner, WritesAndEventsAreCountedExactly) {
  const std::string steps =
      R"({"at":0,"set":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"},)"
      R"("spec":{"unschedulable":true},"status":{}}]},)"
      R"({"at":0,"run":"noschedule","args":{"node":"a"}})";
  const auto with = [&steps](const std::string& expect) {
    return run(one("noschedule-taint", "k8s-head", steps, R"({"afterStep":1,)" + expect + "}"));
  };
  EXPECT_EQ(with(R"("writes":{"patch nodes":1},"writesExact":true,"events":[],"eventsExact":true)"),
            "1 passed, 0 failed");
  EXPECT_EQ(with(R"("writes":{"patch nodes":{"min":2}})"),
            "FAIL x.json n: k8s-head: after step 1: writes patch nodes: expected {\"min\":2}, "
            "got 1\n0 passed, 1 failed");
  EXPECT_EQ(with(R"("writes":{},"writesExact":true)"),
            "FAIL x.json n: k8s-head: after step 1: writes patch nodes: expected none\n"
            "0 passed, 1 failed");
}

TEST(CaseRunner, CasesOfSchedulingNameWhatTheyAreFor) {
  const auto with = [](const std::string& op, const std::string& profile,
                       const std::string& expect) {
    return run(R"({"id":"q/1","op":")" + op + R"(","profiles":[")" + profile +
               R"("],"given":{"pod":{"metadata":{"name":"p"},"spec":{"containers":[]}}},)" +
               R"("expect":{)" + expect + "}}");
  };
  EXPECT_EQ(with("qosClass", "v1.32", R"("qosClass":"BestEffort")"), "1 passed, 0 failed");
  EXPECT_EQ(with("qosClass", "v1.34", R"("qosClass":"Odd")"), "0 passed, 0 failed");
  EXPECT_EQ(with("qosClass", "v1.32", R"("qosClass":"Burstable")"),
            "FAIL x.json q/1: plain: qosClass: expected \"Burstable\", got \"BestEffort\"\n"
            "0 passed, 1 failed");
  EXPECT_EQ(with("qosClass", "v1.32", R"("qosClass":"BestEffort","colour":"red")"),
            "ERROR x.json q/1: cases[0].expect.colour: unknown expectation\n"
            "0 passed, 0 failed, 1 errors");
  EXPECT_EQ(with("fly", "v1.32", ""),
            "ERROR x.json q/1: cases[0].op: unknown operation fly\n"
            "0 passed, 0 failed, 1 errors");
}

TEST(CaseRunner, AFolderWithoutCasesFails) {
  const test::ScratchDir scratch;
  std::ostringstream out;
  Tally tally;
  run_folder(scratch.path(), out, tally);
  run_folder(scratch.path() / "missing", out, tally);
  std::ofstream(scratch.path() / "broken.json") << "{";
  run_folder(scratch.path(), out, tally);
  EXPECT_EQ(tally.passed, 0);
  EXPECT_EQ(tally.failed, 0);
  EXPECT_EQ(tally.errors, 3);
  EXPECT_FALSE(tally.all_passed());
}

TEST(CaseRunner, WhatIsNoReadableFileIsAnError) {
  const test::ScratchDir scratch;
  std::filesystem::create_directory(scratch.path() / "a.json");
  std::ofstream(scratch.path() / "b.json").flush();
  std::ofstream(scratch.path() / "c.json").flush();
  std::filesystem::resize_file(scratch.path() / "c.json", std::uintmax_t{1} << 40);
  std::ofstream(scratch.path() / "d.json") << std::string(100'000, '[');
  std::ostringstream out;
  Tally tally;
  run_folder(scratch.path(), out, tally);
  EXPECT_EQ(out.str(),
            "ERROR a.json: is not a file\n"
            "ERROR b.json: JSON at byte 0: incomplete JSON\n"
            "ERROR c.json: is too large\n"
            "ERROR d.json: JSON at byte 128: too deep\n");
  EXPECT_EQ(tally.errors, 4);
}

}  // namespace
}  // namespace holdfast::cases
