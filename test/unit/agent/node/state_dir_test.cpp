#include "agent/node/state_dir.h"

#include "agent/node/pod_record.h"
#include "sync/wire/codec.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent::node {
namespace {

using sync::runtime::PodRecord;
using sync::runtime::StopCause;

std::shared_ptr<sync::Pod> make_pod(const std::string& uid) {
  auto pod = sync::wire::decode_bytes<sync::Pod>(
      R"({"metadata":{"namespace":"default","name":"web","uid":")" + uid + R"(",
          "managedFields":[{"manager":"kubectl"}]},
          "spec":{"containers":[{"name":"c","command":["x"],"livenessProbe":{"a":1}}]}})");
  return std::make_shared<sync::Pod>(pod.value());
}

PodRecord make_record(const std::string& uid) {
  return {make_pod(uid),
          parse_rfc3339("2026-11-21T01:02:03.000004Z").value(),
          MonoTime(Duration(77)),
          {}};
}

TEST(PodRecordFile, GoesThereAndBackWithoutManagedFields) {
  for (const std::optional<StopCause> cause : std::vector<std::optional<StopCause>>{
           {}, StopCause::completed, StopCause::deadline, StopCause::deleted, StopCause::removed}) {
    PodRecord record = make_record("u");
    record.stopping = cause;
    const auto read = read_pod_record(to_json(record, "boot"), "boot");
    ASSERT_TRUE(read) << read.error().what;
    auto expected = make_pod("u");
    expected->metadata.unknown_fields = {};
    EXPECT_EQ(*read->pod, *expected);
    EXPECT_EQ(read->accepted_wall, record.accepted_wall);
    EXPECT_EQ(read->accepted, record.accepted);
    EXPECT_EQ(read->stopping, cause);
    EXPECT_EQ(read_pod_record(to_json(record, "boot"), "next boot")->accepted, std::nullopt);
  }
}

TEST(PodRecordFile, WhatIsDamagedIsCorrupt) {
  const std::string good = to_json(make_record("u"), "boot");
  const std::string accepted = R"("acceptedAt":"2026-11-21T01:02:03Z")";
  for (const std::string& text : std::vector<std::string>{
           "", "[]", "{}", good.substr(0, good.size() / 2), "{" + accepted + R"(,"pod":7})",
           R"({"pod":{"metadata":{"uid":"u"}}})", R"({"acceptedAt":"soon","pod":{}})",
           "{" + accepted + R"(,"pod":{"metadata":{"uid":"u"}},"stopping":"somehow"})"}) {
    EXPECT_EQ(read_pod_record(text, "boot").error().code, Errc::corrupt) << text;
  }
}

class StateDirTest : public testing::Test {
 protected:
  [[nodiscard]] fs::Path root() const { return scratch_.path() / "runtime"; }

 private:
  holdfast::test::ScratchDir scratch_;
};

TEST_F(StateDirTest, HasOneUser) {
  const auto first = StateDir::open(root());
  ASSERT_TRUE(first);
  const auto second = StateDir::open(root());
  EXPECT_EQ(second.error().code, Errc::conflict);
  EXPECT_NE(second.error().what.find("process " + std::to_string(::getpid())), std::string::npos);
}

TEST_F(StateDirTest, KeepsRecordsAndAttempts) {
  const auto state = StateDir::open(root());
  ASSERT_TRUE(state);
  ASSERT_TRUE(state->record(make_record("u1")));
  ASSERT_TRUE(state->record(make_record("u2")));
  for (const std::int32_t number : {0, 2, 10}) {
    ASSERT_TRUE(state->create_attempt("u1", "c", number, {1, std::chrono::seconds(10)}));
  }
  EXPECT_EQ(state->create_attempt("u1", "c", 2, {}).error().code, Errc::conflict);
  EXPECT_EQ(state->uids(), (std::vector<std::string>{"u1", "u2"}));
  EXPECT_EQ(state->containers("u1"), std::vector<std::string>{"c"});
  EXPECT_EQ(state->attempts("u1", "c"), (std::vector<std::int32_t>{0, 2, 10}));
  EXPECT_EQ(state->containers("none"), std::vector<std::string>{});
  EXPECT_EQ(read_attempt(state->attempt("u1", "c", 10)).value(),
            (AttemptRecord{1, std::chrono::seconds(10)}));
  std::vector<Error> damaged;
  EXPECT_EQ(state->load(damaged)->size(), 2u);
  EXPECT_EQ(damaged, std::vector<Error>{});
  ASSERT_TRUE(state->remove("u1"));
  ASSERT_TRUE(state->remove("u1"));
  EXPECT_EQ(state->uids(), std::vector<std::string>{"u2"});
}

TEST_F(StateDirTest, ADamagedRecordIsToldAndLeftAlone) {
  const auto state = StateDir::open(root());
  ASSERT_TRUE(state);
  ASSERT_TRUE(state->record(make_record("good")));
  ASSERT_TRUE(state->create_attempt("lost", "c", 0, {}));
  ASSERT_TRUE(fs::ensure_dir(root() / "pods/bad"));
  ASSERT_TRUE(fs::atomic_write(root() / "pods/bad/pod.json", "{"));
  ASSERT_TRUE(fs::ensure_dir(root() / "pods/swapped"));
  ASSERT_TRUE(
      fs::atomic_write(root() / "pods/swapped/pod.json", to_json(make_record("another"), "boot")));
  std::vector<Error> damaged;
  const auto records = state->load(damaged);
  ASSERT_EQ(records->size(), 1u);
  EXPECT_EQ(records->at(0).pod->metadata.uid, "good");
  ASSERT_EQ(damaged.size(), 3u);
  EXPECT_EQ(damaged[0].code, Errc::corrupt);
  EXPECT_EQ(damaged[1].code, Errc::not_found);
  EXPECT_NE(damaged[2].what.find("not the record of this pod"), std::string::npos);
  EXPECT_EQ(state->uids(), (std::vector<std::string>{"bad", "good", "lost", "swapped"}));
}

TEST_F(StateDirTest, NamesThatAreNoneOfOursAreNotSeen) {
  const auto state = StateDir::open(root());
  ASSERT_TRUE(state);
  ASSERT_TRUE(fs::ensure_dir(root() / "pods/u/c/work"));
  ASSERT_TRUE(fs::ensure_dir(root() / "pods/u/c/-1"));
  ASSERT_TRUE(fs::ensure_dir(root() / "pods/u/c/7x"));
  ASSERT_TRUE(fs::ensure_dir(root() / "pods/u/c.d"));
  ASSERT_TRUE(fs::ensure_dir(root() / "pods/.hidden"));
  EXPECT_EQ(state->uids(), std::vector<std::string>{"u"});
  EXPECT_EQ(state->containers("u"), std::vector<std::string>{"c"});
  EXPECT_EQ(state->attempts("u", "c"), std::vector<std::int32_t>{});
}

}  // namespace
}  // namespace holdfast::agent::node
