// Kills and power cuts at every write: acknowledged steps are kept, and no step is kept partly.

#include <algorithm>

#include "store/cache.h"
#include "store/recover.h"
#include "store/sequence.h"
#include "test/fault/story_child.h"
#include "test/support/scratch_dir.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

namespace fs = std::filesystem;

class KillTest : public testing::TestWithParam<StoryKind> {
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
  static bool fits(const std::vector<std::string>& states, const Told& told,
                   const std::string& found) {
    const std::size_t next = std::min(told.steps + 1, story_steps);
    return found == states[told.steps] || (told.opened && found == states[next]);
  }
};

TEST_P(KillTest, AtEveryWriteNothingAcknowledgedIsLost) {
  const std::vector<std::string> states = states_of(GetParam());
  for (const bool tear : {false, true}) {
    std::int64_t kill_at = 1 - fault_stride;
    for (Told told{.killed = true}; told.killed;) {
      const test::ScratchDir scratch;
      const fs::path file = scratch.path() / "story.db";
      told = tell_in_child(GetParam(), file, {.kill_at = kill_at += fault_stride, .tear = tear});
      SCOPED_TRACE("killed at " + std::to_string(kill_at) + " after step " +
                   std::to_string(told.steps));
      const std::string found = reopened(file);
      ASSERT_TRUE(fits(states, told, found)) << found << "\nnot\n" << states[told.steps];
    }
    EXPECT_GT(kill_at, 100);
  }
}

TEST_P(KillTest, APowerCutAtEveryWriteTearsNothing) {
  const std::vector<std::string> states = states_of(GetParam());
  const bool durable = GetParam().durability == Durability::full;
  std::int64_t kill_at = 1 - fault_stride;
  for (Told told{.killed = true}; told.killed;) {
    const test::ScratchDir scratch;
    const fs::path file = scratch.path() / "story.db";
    told =
        tell_in_child(GetParam(), file, {.kill_at = kill_at += fault_stride, .keep_synced = true});
    for (const test::Lost lost : {test::Lost::both, test::Lost::database, test::Lost::log}) {
      SCOPED_TRACE("cut at " + std::to_string(kill_at) + " after step " +
                   std::to_string(told.steps));
      const test::ScratchDir after;
      fs::copy(scratch.path(), after.path());
      test::lose_unsynced(after.path() / "story.db", lost);
      const std::string found = reopened(after.path() / "story.db");
      const auto last =
          states.begin() + static_cast<std::ptrdiff_t>(std::min(told.steps + 1, story_steps) + 1);
      const bool earlier = std::find(states.begin(), last, found) != last;
      ASSERT_TRUE(durable ? fits(states, told, found) : earlier) << found;
    }
  }
  EXPECT_GT(kill_at, 100);
}

INSTANTIATE_TEST_SUITE_P(, KillTest, testing::ValuesIn(story_kinds()),
                         [](const auto& kind) { return kind.param.name; });

// A story whose steps take numbers from a sequence instead of writing: after the kill no number may
// be handed out again.
class SequenceStory final : public Story {
 public:
  static Result<std::unique_ptr<Story>> open(Database database) {
    return std::make_unique<SequenceStory>(std::move(database));
  }

  explicit SequenceStory(Database database)
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
  const StoryKind kind{"sequence", cache_schema(), Durability::relaxed, SequenceStory::open};
  std::int64_t kill_at = 1 - fault_stride;
  for (Told told{.killed = true}; told.killed;) {
    const test::ScratchDir scratch;
    const fs::path file = scratch.path() / "story.db";
    told = tell_in_child(kind, file, {.kill_at = kill_at += fault_stride, .keep_synced = true});
    if (told.killed) test::lose_unsynced(file, test::Lost::both);
    test::follow({});
    const auto next = value(value(open_story(kind, file, "fault"))->state());
    EXPECT_GT(std::stoll(next), static_cast<long long>(told.steps)) << kill_at;
  }
}

}  // namespace
}  // namespace holdfast::store
