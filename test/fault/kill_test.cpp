// Kills and power cuts at every write: acknowledged steps are kept, and no step is kept partly.

#include <algorithm>

#include "store/cache.h"
#include "store/recover.h"
#include "store/sequence.h"
#include "test/fault/scenario_child.h"
#include "test/support/scratch_dir.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

namespace fs = std::filesystem;

class KillTest : public testing::TestWithParam<FaultScenarioKind> {
 protected:
  // The state that a newly started program reads. The file must not count as damaged.
  std::string reopened(const fs::path& file) {
    test::follow({});
    Recovered recovered =
        value(open_or_rebuild(file, {.vfs = "fault"}, GetParam().schema, WallTime{}));
    EXPECT_FALSE(recovered.damage) << recovered.damage->why;
    EXPECT_EQ(said(recovered.database.quick_check()), "ok");
    return value(value(GetParam().open(std::move(recovered.database)))->state());
  }

  // A step that was not acknowledged may be there, but only as a whole.
  static bool fits(const std::vector<std::string>& states, const ScenarioResult& result,
                   const std::string& found) {
    const std::size_t next = std::min(result.steps + 1, scenario_steps);
    return found == states[result.steps] || (result.opened && found == states[next]);
  }
};

TEST_P(KillTest, AtEveryWriteNothingAcknowledgedIsLost) {
  const std::vector<std::string> states = states_of(GetParam());
  for (const bool tear : {false, true}) {
    std::int64_t kill_at = 1 - fault_stride;
    for (ScenarioResult result{.killed = true}; result.killed;) {
      const test::ScratchDir scratch;
      const fs::path file = scratch.path() / "story.db";
      result = run_in_child(GetParam(), file, {.kill_at = kill_at += fault_stride, .tear = tear});
      SCOPED_TRACE("killed at " + std::to_string(kill_at) + " after step " +
                   std::to_string(result.steps));
      const std::string found = reopened(file);
      ASSERT_TRUE(fits(states, result, found)) << found << "\nnot\n" << states[result.steps];
    }
    EXPECT_GT(kill_at, 100);
  }
}

TEST_P(KillTest, APowerCutAtEveryWriteTearsNothing) {
  const std::vector<std::string> states = states_of(GetParam());
  const bool durable = GetParam().durability == Durability::full;
  std::int64_t kill_at = 1 - fault_stride;
  for (ScenarioResult result{.killed = true}; result.killed;) {
    const test::ScratchDir scratch;
    const fs::path file = scratch.path() / "story.db";
    result =
        run_in_child(GetParam(), file, {.kill_at = kill_at += fault_stride, .keep_synced = true});
    for (const test::Lost lost : {test::Lost::both, test::Lost::database, test::Lost::log}) {
      SCOPED_TRACE("cut at " + std::to_string(kill_at) + " after step " +
                   std::to_string(result.steps));
      const test::ScratchDir after;
      fs::copy(scratch.path(), after.path());
      test::lose_unsynced(after.path() / "story.db", lost);
      const std::string found = reopened(after.path() / "story.db");
      const auto last = states.begin() +
                        static_cast<std::ptrdiff_t>(std::min(result.steps + 1, scenario_steps) + 1);
      const bool earlier = std::find(states.begin(), last, found) != last;
      ASSERT_TRUE(durable ? fits(states, result, found) : earlier) << found;
    }
  }
  EXPECT_GT(kill_at, 100);
}

INSTANTIATE_TEST_SUITE_P(, KillTest, testing::ValuesIn(scenario_kinds()),
                         [](const auto& kind) { return kind.param.name; });

// A scenario whose steps take numbers from a sequence instead of writing: after the kill no number
// may be handed out again.
class SequenceScenario final : public FaultScenario {
 public:
  static Result<std::unique_ptr<FaultScenario>> open(Database database) {
    return std::make_unique<SequenceScenario>(std::move(database));
  }

  explicit SequenceScenario(Database database)
      : database_(std::move(database)), sequence_(database_, "local", 3) {}

  Status step(std::size_t) override {
    TRY(last_, sequence_.next());
    return {};
  }

  Result<std::string> state() override {
    TRY(const std::int64_t next, sequence_.next());
    return std::to_string(next);
  }

 private:
  Database database_;
  Sequence sequence_;
  std::int64_t last_ = 0;
};

TEST(KillSequence, NoNumberComesAgain) {
  const FaultScenarioKind kind{"sequence", cache_schema(), Durability::relaxed,
                               SequenceScenario::open};
  std::int64_t kill_at = 1 - fault_stride;
  for (ScenarioResult result{.killed = true}; result.killed;) {
    const test::ScratchDir scratch;
    const fs::path file = scratch.path() / "story.db";
    result = run_in_child(kind, file, {.kill_at = kill_at += fault_stride, .keep_synced = true});
    if (result.killed) test::lose_unsynced(file, test::Lost::both);
    test::follow({});
    const auto next = value(value(open_scenario(kind, file, "fault"))->state());
    EXPECT_GT(std::stoll(next), static_cast<long long>(result.steps)) << kill_at;
  }
}

}  // namespace
}  // namespace holdfast::store
