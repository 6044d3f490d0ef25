#include "agent/node/process/attempt_files.h"

#include "agent/node/process/launch_wire.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent::node {
namespace {

using sync::runtime::ContainerExit;

const BootTime time_of_day{parse_rfc3339("2026-11-21T01:02:03.000004Z").value(),
                           MonoTime(Duration(123456789)), "boot"};

class AttemptFiles : public testing::Test {
 protected:
  void write(const char* name, const std::string& text) {
    ASSERT_TRUE(fs::atomic_write(dir() / name, text));
  }
  [[nodiscard]] const fs::Path& dir() const { return scratch_.path(); }

 private:
  holdfast::test::ScratchDir scratch_;
};

TEST_F(AttemptFiles, WhatIsWrittenIsRead) {
  const AttemptRecord attempt{3, std::chrono::seconds(20)};
  const RunRecord run{{10, 11, "boot"}, {12, 13, "boot"}, time_of_day};
  write(attempt_file, to_json(attempt));
  write(run_file, to_json(run));
  EXPECT_EQ(read_attempt(dir()).value(), attempt);
  EXPECT_EQ(read_run(dir()).value(), run);
  for (const ContainerExit& exit :
       std::vector<ContainerExit>{{ContainerExit::Kind::code, 7, ""},
                                  {ContainerExit::Kind::signal, 9, ""},
                                  {ContainerExit::Kind::unknown, 0, "lost"},
                                  {ContainerExit::Kind::failed, 0, "start \"x\":\nno"},
                                  {ContainerExit::Kind::never_began, 0, "nobody"}}) {
    const ExitRecord record{exit, time_of_day};
    write(exit_file, to_json(record));
    EXPECT_EQ(read_exit(dir()).value(), record);
  }
}

TEST_F(AttemptFiles, PeopleCanReadThem) {
  EXPECT_EQ(to_json(AttemptRecord{3, std::chrono::seconds(20)}),
            "{\"restarts\":3,\"nextDelayNs\":20000000000}\n");
  EXPECT_EQ(to_json(RunRecord{{10, 11, "boot"}, {12, 13, "boot"}, time_of_day}),
            "{\"shim\":{\"pid\":10,\"startTicks\":11},\"process\":{\"pid\":12,\"startTicks\":13},"
            "\"startedAt\":\"2026-11-21T01:02:03.000004Z\",\"monoNs\":123456789,"
            "\"bootId\":\"boot\"}\n");
  EXPECT_EQ(to_json(ExitRecord{{ContainerExit::Kind::signal, 9, ""}, time_of_day}),
            "{\"signal\":9,\"finishedAt\":\"2026-11-21T01:02:03.000004Z\",\"monoNs\":123456789,"
            "\"bootId\":\"boot\"}\n");
}

TEST_F(AttemptFiles, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(read_attempt(dir()).error().code, Errc::not_found);
  EXPECT_EQ(read_run(dir()).error().code, Errc::not_found);
  EXPECT_EQ(read_exit(dir()).error().code, Errc::not_found);
}

TEST_F(AttemptFiles, WhatIsDamagedIsCorrupt) {
  const std::string time = R"("finishedAt":"2026-11-21T01:02:03Z","monoNs":1,"bootId":"b"})";
  const std::string start = R"("startedAt":"2026-11-21T01:02:03Z","monoNs":1,"bootId":"b"})";
  for (const std::string& text : std::vector<std::string>{
           "", "{", "[]", "null", "{}", "{" + time, R"({"code":"x",)" + time,
           R"({"code":1,"signal":2,)" + time, R"({"code":99999999999,)" + time,
           R"({"code":1,"message":2,)" + time,
           R"({"code":1,"finishedAt":"yesterday","monoNs":1,"bootId":"b"})",
           R"({"code":1,"finishedAt":"2026-11-21T01:02:03Z","monoNs":"x","bootId":"b"})",
           R"({"code":1,"finishedAt":"2026-11-21T01:02:03Z","monoNs":1,"bootId":7})"}) {
    write(exit_file, text);
    EXPECT_EQ(read_exit(dir()).error().code, Errc::corrupt) << text;
  }
  const std::string process = R"("process":{"pid":1,"startTicks":2},)";
  for (const std::string& text :
       std::vector<std::string>{"{", "{}", "{" + process + start,
                                R"({"shim":{"pid":0,"startTicks":2},)" + process + start,
                                R"({"shim":{"pid":-1,"startTicks":2},)" + process + start,
                                R"({"shim":{"pid":1,"startTicks":-2},)" + process + start,
                                R"({"shim":[],)" + process + start}) {
    write(run_file, text);
    EXPECT_EQ(read_run(dir()).error().code, Errc::corrupt) << text;
  }
  write(attempt_file, R"({"restarts":1.5,"nextDelayNs":0})");
  EXPECT_EQ(read_attempt(dir()).error().code, Errc::corrupt);
}

TEST(LaunchWire, GoesThereAndBack) {
  const std::vector<sync::runtime::LaunchPlan> plans = {
      {{"sh", "-c", "echo 'a b'\n"}, {"A=1", "B="}, ""},
      {{"x"}, {}, ""},
      {{"x", "", ""}, {""}, ""}};
  for (const sync::runtime::LaunchPlan& plan : plans) {
    EXPECT_EQ(decode_launch(encode_launch(plan)).value(), plan);
  }
}

TEST(LaunchWire, RefusesWhatIsBroken) {
  using namespace std::string_literals;
  for (const std::string& text :
       std::vector<std::string>{"", "1", "1\0"s, "0\0"s, "x\0a\0"s, "2\0a\0"s, "1\0a"s, "-1\0a\0"s,
                                "1\0a\0b"s, "99999999999999999999\0a\0"s}) {
    EXPECT_EQ(decode_launch(text).error().code, Errc::corrupt) << text;
  }
}

}  // namespace
}  // namespace holdfast::agent::node
