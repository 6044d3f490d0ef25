// Files in a wrong place or state: removed while open, not writable, written by a newer version of
// the program.

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "store/outbox.h"
#include "store/recover.h"
#include "test/fault/scenarios.h"
#include "test/support/scratch_dir.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

namespace fs = std::filesystem;

class PlaceTest : public testing::TestWithParam<FaultScenarioKind> {
 protected:
  Result<Recovered> recover() { return open_or_rebuild(file_, {}, GetParam().schema, WallTime{}); }

  test::ScratchDir scratch_;
  fs::path file_ = scratch_.path() / "story.db";
};

TEST_P(PlaceTest, AFileRemovedUnderUsIsNoticedByTheNextWrite) {
  for (const char* gone : {"removed", "renamed", "replaced"}) {
    SCOPED_TRACE(gone);
    auto scenario = value(open_scenario(GetParam(), file_, ""));
    ASSERT_EQ(said(scenario->step(0)), "ok");
    const fs::path elsewhere = scratch_.path() / "elsewhere";
    if (gone == std::string("removed")) {
      fs::remove(file_);
    } else {
      fs::rename(file_, elsewhere);
    }
    if (gone == std::string("replaced")) std::ofstream(file_) << "";
    EXPECT_EQ(said(scenario->step(1)), "unavailable: story.db: the file was moved or removed");
    scenario.reset();
    for (const char* suffix : {"", "-wal"}) fs::remove(file_.string() + suffix);
    fs::remove(elsewhere);
    scenario = value(open_scenario(GetParam(), file_, ""));
    EXPECT_EQ(said(scenario->step(0)), "ok");
    scenario.reset();
    fs::remove(file_);
  }
}

TEST_P(PlaceTest, WhatIsNoDatabaseIsSetAside) {
  for (const std::string& content : {std::string(100, 'x'), std::string(100'000, '\0')}) {
    std::ofstream(file_, std::ios::trunc) << content;
    Recovered recovered = value(recover());
    ASSERT_TRUE(recovered.damage);
    EXPECT_EQ(fs::file_size(recovered.damage->file), content.size());
    auto scenario = value(GetParam().open(std::move(recovered.database)));
    EXPECT_EQ(said(scenario->step(0)), "ok");
  }
}

TEST_P(PlaceTest, ATruncatedFileIsSetAside) {
  {
    auto scenario = value(open_scenario(GetParam(), file_, ""));
    for (std::size_t number = 0; number < scenario_steps; ++number) {
      ASSERT_EQ(said(scenario->step(number)), "ok");
    }
  }
  std::ofstream(file_.string() + "-wal") << "x";  // the last process did not stop properly
  fs::resize_file(file_, fs::file_size(file_) / 2);
  const Recovered recovered = value(recover());
  EXPECT_TRUE(recovered.damage);
}

// Opens the file as a user who may not write to the directory, and returns the error.
std::string said_without_rights(const fs::path& directory, const FaultScenarioKind& kind) {
  fs::permissions(directory, fs::perms::owner_read | fs::perms::owner_exec |
                                 fs::perms::others_read | fs::perms::others_exec);
  int pipe[2];
  EXPECT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (::geteuid() == 0 && ::setuid(nobody) != 0) ::_exit(1);
    const auto opened = open_or_rebuild(directory / "story.db", {}, kind.schema, WallTime{});
    const std::string answer = said(opened);
    ::_exit(::write(pipe[1], answer.data(), answer.size()) > 0 ? 0 : 1);
  }
  (void)::close(pipe[1]);
  std::string answer(1000, ' ');
  const ssize_t got = ::read(pipe[0], answer.data(), answer.size());
  (void)::close(pipe[0]);
  (void)::waitpid(child, nullptr, 0);
  fs::permissions(directory, fs::perms::owner_all);
  return answer.substr(0, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
}

TEST_P(PlaceTest, ADirectoryThatIsNotWritableIsAnErrorThatNamesIt) {
  const std::string said = said_without_rights(scratch_.path(), GetParam());
  EXPECT_EQ(said, "unavailable: create " + file_.string() + ": Permission denied");
}

TEST_P(PlaceTest, ANewerProgramsFileIsRefusedOrWalkedDown) {
  std::vector<Migration> newer(GetParam().schema.migrations.begin(),
                               GetParam().schema.migrations.end());
  const int next = static_cast<int>(newer.size()) + 1;
  newer.push_back({.compatible_from = next,
                   .up = "CREATE TABLE addition (a TEXT) STRICT",
                   .down = "DROP TABLE addition"});
  const Schema schema{GetParam().schema.kind, newer};
  {
    Recovered recovered = value(open_or_rebuild(file_, {}, schema, WallTime{}));
    auto scenario = value(GetParam().open(std::move(recovered.database)));
    ASSERT_EQ(said(scenario->step(0)), "ok");
  }
  {
    Database database = value(Database::open(file_, {}));
    ASSERT_EQ(said(migrate(database, schema)), "ok");
    ASSERT_EQ(said(database.execute("CREATE TABLE kept AS SELECT * FROM rollback;"
                                    "DELETE FROM rollback")),
              "ok");
  }
  EXPECT_EQ(said(recover()), "invalid: story.db has schema " + std::to_string(next) +
                                 " of a newer program; this one knows up to " +
                                 std::to_string(next - 1));
  {
    Database database = value(Database::open(file_, {}));
    ASSERT_EQ(said(database.execute("INSERT INTO rollback SELECT * FROM kept; DROP TABLE kept")),
              "ok");
  }
  Recovered recovered = value(recover());
  EXPECT_FALSE(recovered.damage);
  auto scenario = value(GetParam().open(std::move(recovered.database)));
  EXPECT_EQ(value(scenario->state()), states_of(GetParam()).at(1));
}

INSTANTIATE_TEST_SUITE_P(, PlaceTest, testing::ValuesIn(scenario_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::store
