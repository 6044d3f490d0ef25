// Random bytes written anywhere in a database file: the damage is detected, the file is
// quarantined, and no false content is read.

#include <fstream>
#include <set>
#include <sstream>

#include "platform/random.h"
#include "platform/text.h"
#include "store/recover.h"
#include "test/fault/scenarios.h"
#include "test/support/fault_vfs.h"
#include "test/support/scratch_dir.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

namespace fs = std::filesystem;

class DamageTest : public testing::TestWithParam<FaultScenarioKind> {
 protected:
  void SetUp() override {
    test::follow({});  // no faults; and no real syncs, which take most of the time
    auto scenario = value(open_scenario(GetParam(), whole_, "fault"));
    for (std::size_t number = 0; number < scenario_steps; ++number) {
      ASSERT_EQ(said(scenario->step(number)), "ok");
    }
  }

  Result<Recovered> recover(const fs::path& file) {
    return open_or_rebuild(file, {.vfs = "fault"}, GetParam().schema,
                           WallTime{std::chrono::seconds(100)});
  }

  test::ScratchDir scratch_;
  fs::path whole_ = scratch_.path() / "whole.db";
};

void scribble(const fs::path& file, std::uintmax_t at, std::string_view bytes) {
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(at));
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// The "size/checksum" of every value in a state.
std::set<std::string> values_in(const std::string& state) {
  std::set<std::string> found;
  std::istringstream words(state);
  for (std::string word; words >> word;) {
    const bool of_value = is_digit(word.front()) && word.find('/') != std::string::npos;
    if (of_value) found.insert(word);
  }
  return found;
}

// A write-ahead log file left behind shows that the last process did not stop properly; this one is
// too short to be a valid log.
void leave_in_disorder(const fs::path& file) { std::ofstream(file.string() + "-wal") << "x"; }

TEST_P(DamageTest, AScribbledPageIsQuarantined) {
  const std::uintmax_t pages = fs::file_size(whole_) / 4096;
  std::uintmax_t quarantined = 0;
  for (std::uintmax_t page = 0; page < pages; ++page) {
    SCOPED_TRACE(page);
    const test::ScratchDir scratch;
    const fs::path file = scratch.path() / "story.db";
    fs::copy_file(whole_, file);
    scribble(file, page * 4096, std::string(4096, '\xa5'));
    leave_in_disorder(file);
    Recovered recovered = value(recover(file));
    EXPECT_EQ(said(recovered.database.quick_check()), "ok");
    if (!recovered.damage) continue;
    ++quarantined;
    EXPECT_EQ(recovered.damage->file, file.string() + ".damaged-100");
    EXPECT_TRUE(fs::exists(recovered.damage->file));
    auto scenario = value(GetParam().open(std::move(recovered.database)));
    EXPECT_EQ(value(scenario->state()), states_of(GetParam()).front());
    EXPECT_EQ(said(scenario->step(0)), "ok");
  }
  // Damage in free pages, or in those that hold only the middle of a long value, is not detected.
  EXPECT_GT(quarantined, 5u);
}

TEST_P(DamageTest, AnyScribbleIsAnErrorOrHarmlessNeverACrash) {
  Random random(20261121);
  const std::set<std::string> values = values_in(states_of(GetParam()).back());
  const std::uintmax_t size = fs::file_size(whole_);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const test::ScratchDir scratch;
    const fs::path file = scratch.path() / "story.db";
    fs::copy_file(whole_, file);
    const std::uintmax_t at = random.below(size - 8);
    std::string bytes;
    while (bytes.size() < 8) bytes += static_cast<char>(random.below(256));
    scribble(file, at, bytes);
    if (round % 2 == 0) leave_in_disorder(file);
    auto recovered = recover(file);
    // If the application ID is damaged, the file counts as somebody else's; it is not moved.
    if (!recovered) {
      EXPECT_EQ(recovered.error().code, Errc::invalid) << recovered.error().what;
      continue;
    }
    auto scenario = GetParam().open(std::move(recovered->database));
    const auto state = scenario ? (*scenario)->state() : fail(scenario.error());
    const Errc code = state ? Errc::corrupt : state.error().code;
    EXPECT_EQ(code, Errc::corrupt) << state.error().what;
    if (!state || GetParam().name == "revisions") continue;  // the lab's values have no checksum
    for (const std::string& found : values_in(*state)) {
      EXPECT_TRUE(values.contains(found)) << found << " was never written\n" << *state;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, DamageTest, testing::ValuesIn(scenario_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::store
