// The files that each kind of death leaves behind, and the state that is concluded from them.

#include "agent/node/process/settle.h"

#include <signal.h>

#include "test/support/full_disk.h"
#include "test/system/agent/node/processes.h"

namespace holdfast::agent::node {
namespace {

using sync::runtime::AttemptState;
using sync::runtime::ContainerExit;
using test::await_end;
using test::await_run;
using Kind = ContainerExit::Kind;

class Settle : public testing::Test {
 protected:
  // An attempt whose run.json names these two processes.
  fs::Path attempt_with(const std::string& name, const proc::ProcessIdentity& shim,
                        const proc::ProcessIdentity& process) {
    const fs::Path dir = attempts_.make(name);
    const RunRecord run{shim, process, BootTime::now(SystemClock())};
    EXPECT_TRUE(fs::atomic_write(dir / run_file, to_json(run)));
    return dir;
  }

  // The identity of a dead process with a reused pid: our own pid with another start time.
  static proc::ProcessIdentity recycled() {
    proc::ProcessIdentity identity = proc::identify(::getpid()).value();
    identity.start_ticks -= 1;
    return identity;
  }
  static proc::ProcessIdentity alive() { return proc::identify(::getpid()).value(); }

  test::Attempts attempts_;
};

TEST_F(Settle, NeverBegan) {
  const fs::Path dir = attempts_.make("0");
  ASSERT_TRUE(
      fs::atomic_write(dir / attempt_file, to_json(AttemptRecord{2, std::chrono::seconds(20)})));
  const AttemptView view = settle_attempt(SystemClock(), dir, 5, {});
  EXPECT_EQ(view.attempt.number, 5);
  EXPECT_EQ(view.attempt.restarts, 2);
  EXPECT_EQ(view.attempt.next_delay, std::chrono::seconds(20));
  EXPECT_EQ(view.attempt.state, AttemptState::ended);
  EXPECT_EQ(view.attempt.exit.kind, Kind::never_began);
  EXPECT_EQ(view.watched, std::nullopt);
  EXPECT_EQ(read_exit(dir)->exit, view.attempt.exit) << "recorded, so that a late shim sees it";
}

TEST_F(Settle, AboutToBegin) {
  const fs::Path ours = attempts_.make("0");
  const AttemptView with_shim = settle_attempt(SystemClock(), ours, 0, alive());
  EXPECT_EQ(with_shim.attempt.state, AttemptState::created);
  EXPECT_EQ(with_shim.watched, alive());
  EXPECT_EQ(read_exit(ours).error().code, Errc::not_found);

  const fs::Path theirs = attempts_.make("1");
  const auto lock = fs::FileLock::take(theirs / lock_file);
  const AttemptView locked = settle_attempt(SystemClock(), theirs, 0, {});
  EXPECT_EQ(locked.attempt.state, AttemptState::created);
  EXPECT_EQ(locked.watched, std::nullopt);
  EXPECT_EQ(read_exit(theirs).error().code, Errc::not_found);
}

TEST_F(Settle, OurShimDiedBeforeItBegan) {
  const fs::Path dir = attempts_.make("0");
  EXPECT_EQ(settle_attempt(SystemClock(), dir, 0, recycled()).attempt.exit.kind, Kind::never_began);
}

TEST_F(Settle, WhatNeverBeganIsOpenUntilItIsWrittenDown) {
  const fs::Path dir = attempts_.make("0");
  {
    const holdfast::test::FullDisk full(0);
    EXPECT_EQ(settle_attempt(SystemClock(), dir, 0, {}).attempt.state, AttemptState::created);
  }
  EXPECT_EQ(settle_attempt(SystemClock(), dir, 0, {}).attempt.state, AttemptState::ended);
}

TEST_F(Settle, Runs) {
  const fs::Path dir = attempts_.make("0");
  const auto shim = attempts_.start_shim(dir, "sleep 1000");
  const RunRecord run = await_run(dir);
  const AttemptView view = settle_attempt(SystemClock(), dir, 0, {});
  EXPECT_EQ(view.attempt.state, AttemptState::running);
  EXPECT_EQ(view.attempt.started, run.started.mono);
  EXPECT_EQ(view.attempt.started_wall, run.started.wall);
  EXPECT_EQ(view.process, run.process);
  EXPECT_EQ(view.watched, shim);

  test::kill_now(run.process);
  EXPECT_TRUE(await_end(shim));
  const AttemptView ended = settle_attempt(SystemClock(), dir, 0, {});
  EXPECT_EQ(ended.attempt.state, AttemptState::ended);
  EXPECT_EQ(ended.attempt.exit, (ContainerExit{Kind::signal, SIGKILL, ""}));
  EXPECT_EQ(ended.attempt.started, run.started.mono);
  EXPECT_GE(*ended.attempt.ended, run.started.mono);
  EXPECT_EQ(ended.process, std::nullopt);
  EXPECT_EQ(ended.watched, std::nullopt);
}

TEST_F(Settle, RunsWithoutItsShim) {
  const fs::Path dir = attempts_.make("0");
  const auto shim = attempts_.start_shim(dir, "touch up; exec sleep 1000");
  const RunRecord run = await_run(dir);
  ASSERT_TRUE(test::await_files(
      attempts_.root(), [this] { return std::filesystem::exists(attempts_.root() / "up"); }));
  ASSERT_TRUE(proc::signal_process(shim, SIGKILL));
  ASSERT_TRUE(await_end(shim));
  const AttemptView orphan = settle_attempt(SystemClock(), dir, 0, {});
  EXPECT_EQ(orphan.attempt.state, AttemptState::running);
  EXPECT_EQ(orphan.watched, run.process);

  test::kill_now(run.process);
  ASSERT_TRUE(await_end(run.process));
  const AttemptView ended = settle_attempt(SystemClock(), dir, 0, {});
  EXPECT_EQ(ended.attempt.state, AttemptState::ended);
  EXPECT_EQ(ended.attempt.exit,
            (ContainerExit{Kind::unknown, 0,
                           "it ended while nobody watched: its exit status is unknown"}));
  EXPECT_EQ(settle_attempt(SystemClock(), dir, 0, {}).attempt, ended.attempt)
      << "asking again gives the same result";
}

TEST_F(Settle, LaunchedButNotYetBegun) {
  const fs::Path dir = attempts_.make("0");
  const RunRecord launch{alive(), alive(), BootTime::now(SystemClock())};
  ASSERT_TRUE(fs::atomic_write(dir / launch_file, to_json(launch)));
  const AttemptView view = settle_attempt(SystemClock(), dir, 0, {});
  EXPECT_EQ(view.attempt.state, AttemptState::created);
  EXPECT_EQ(view.watched, alive());

  const RunRecord orphan{recycled(), alive(), BootTime::now(SystemClock())};
  ASSERT_TRUE(fs::atomic_write(dir / launch_file, to_json(orphan)));
  EXPECT_EQ(settle_attempt(SystemClock(), dir, 0, {}).attempt.state, AttemptState::running);

  const RunRecord dead{recycled(), recycled(), BootTime::now(SystemClock())};
  ASSERT_TRUE(fs::atomic_write(dir / launch_file, to_json(dead)));
  EXPECT_EQ(settle_attempt(SystemClock(), dir, 0, {}).attempt.exit.kind, Kind::unknown);
}

TEST_F(Settle, ARecycledPidIsNeitherShimNorProcess) {
  const fs::Path dir = attempt_with("0", recycled(), recycled());
  const AttemptView view = settle_attempt(SystemClock(), dir, 0, {});
  EXPECT_EQ(view.attempt.state, AttemptState::ended);
  EXPECT_EQ(view.attempt.exit.kind, Kind::unknown);
}

TEST_F(Settle, WhatRanBeforeTheBootHasEnded) {
  proc::ProcessIdentity self = alive();
  self.boot_id = "00000000-0000-0000-0000-000000000000";
  const fs::Path dir = attempts_.make("0");
  const RunRecord run{self, self, {WallTime(), MonoTime(Duration(5)), self.boot_id}};
  ASSERT_TRUE(fs::atomic_write(dir / run_file, to_json(run)));
  const AttemptView view = settle_attempt(SystemClock(), dir, 0, {});
  EXPECT_EQ(view.attempt.state, AttemptState::ended);
  EXPECT_EQ(view.attempt.exit.kind, Kind::unknown);
  EXPECT_EQ(view.attempt.started, std::nullopt);
}

TEST_F(Settle, AShimThatIsWritingTheEndIsWaitedFor) {
  const fs::Path dir = attempt_with("0", recycled(), recycled());
  const auto lock = fs::FileLock::take(dir / lock_file);
  EXPECT_EQ(settle_attempt(SystemClock(), dir, 0, {}).attempt.state, AttemptState::running);
}

TEST_F(Settle, ADeadOneHasEndedEvenIfThatCannotBeWrittenDown) {
  const fs::Path dir = attempt_with("0", recycled(), recycled());
  const holdfast::test::FullDisk full(0);
  EXPECT_EQ(settle_attempt(SystemClock(), dir, 0, {}).attempt.exit.kind, Kind::unknown);
}

TEST_F(Settle, DamagedFiles) {
  const struct {
    std::string name;
    std::map<const char*, std::string> files;
    AttemptState state;
    Kind kind;
  } rows[] = {
      {"run", {{run_file, "{"}}, AttemptState::ended, Kind::unknown},
      {"launch", {{launch_file, "{"}}, AttemptState::ended, Kind::unknown},
      {"exit", {{exit_file, "{"}}, AttemptState::ended, Kind::never_began},
      {"attempt", {{attempt_file, "{"}}, AttemptState::ended, Kind::never_began},
      {"both", {{run_file, "[]"}, {exit_file, "[]"}}, AttemptState::ended, Kind::unknown},
  };
  for (const auto& row : rows) {
    const fs::Path dir = attempts_.make(row.name);
    for (const auto& [file, text] : row.files) ASSERT_TRUE(fs::atomic_write(dir / file, text));
    const AttemptView view = settle_attempt(SystemClock(), dir, 0, {});
    EXPECT_EQ(view.attempt.state, row.state) << row.name;
    EXPECT_EQ(view.attempt.exit.kind, row.kind) << row.name;
    EXPECT_TRUE(read_exit(dir)) << row.name << ": its end is not written down";
  }
}

}  // namespace
}  // namespace holdfast::agent::node
