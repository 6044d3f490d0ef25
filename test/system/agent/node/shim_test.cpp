// Tests the shim as a real process.

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <array>

#include "test/system/agent/node/processes.h"

namespace holdfast::agent::node {
namespace {

using Kind = sync::runtime::ContainerExit::Kind;
using sync::runtime::ContainerExit;
using test::await_end;
using test::await_exit;
using test::await_run;

class Shim : public testing::Test {
 protected:
  // A pipe that scripts hold open. It ends when the last process that has it open has ended.
  Descriptor make_pipe(const fs::Path& path) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }

  // The next text from the pipe; "" at its end.
  static std::string next(const Descriptor& pipe) {
    EXPECT_TRUE(proc::wait_for_end(pipe, std::chrono::seconds(30)));
    std::array<char, 64> buffer{};
    const ssize_t count = ::read(pipe.get(), buffer.data(), buffer.size());
    return std::string(buffer.data(), static_cast<std::size_t>(std::max(count, ssize_t{0})));
  }

  test::Attempts attempts_;
};

TEST_F(Shim, WritesHowItEnded) {
  const struct {
    std::string script;
    ContainerExit exit;
  } rows[] = {
      {"exit 0", {Kind::code, 0, ""}},
      {"exit 42", {Kind::code, 42, ""}},
      {"kill -KILL $$", {Kind::signal, SIGKILL, ""}},
      {"kill -SEGV $$", {Kind::signal, SIGSEGV, ""}},
  };
  int number = 0;
  for (const auto& row : rows) {
    const fs::Path dir = attempts_.make(std::to_string(number++));
    const auto shim = attempts_.start_shim(dir, row.script);
    EXPECT_EQ(await_exit(dir), row.exit) << row.script;
    EXPECT_TRUE(await_end(shim));
    EXPECT_EQ(proc::reap(shim.pid), (proc::ExitStatus{false, 0}));
  }
}

TEST_F(Shim, GivesTheProgramItsEnvironmentAndLog) {
  const fs::Path dir = attempts_.make("0");
  attempts_.start_shim(dir, "echo $NAME; pwd; echo wrong >&2; env | wc -l");
  EXPECT_EQ(await_exit(dir), (ContainerExit{Kind::code, 0, ""}));
  // The shell adds PWD (and sometimes _ or SHLVL), so only the beginning is compared.
  EXPECT_TRUE(fs::read_all(dir / log_file, 1000)
                  ->starts_with("value\n" + attempts_.root().string() + "\nwrong\n"));
}

TEST_F(Shim, WritesWhoItIsBeforeTheProgramRuns) {
  const fs::Path dir = attempts_.make("0");
  const std::string launched = "test -s " + (dir / launch_file).string();
  const std::string begun = "test -s " + (dir / run_file).string();
  const auto shim = attempts_.start_shim(dir, launched + " || " + begun + " || exit 1; sleep 1000");
  const RunRecord run = await_run(dir);
  EXPECT_EQ(run.shim, shim);
  EXPECT_TRUE(proc::is_alive(run.process));
  EXPECT_EQ(proc::read_stat(run.process.pid)->parent, shim.pid);
  EXPECT_EQ(run.started.boot_id, shim.boot_id);
  ASSERT_TRUE(proc::signal_group(run.process, SIGTERM));
  EXPECT_EQ(await_exit(dir), (ContainerExit{Kind::signal, SIGTERM, ""}));
}

TEST_F(Shim, WhatCannotStartSaysWhy) {
  const fs::Path dir = attempts_.make("0");
  attempts_.start_shim(dir, std::vector<std::string>{"no-such-program", "x"});
  EXPECT_EQ(await_exit(dir),
            (ContainerExit{Kind::failed, 0, "start no-such-program: No such file or directory"}));
}

TEST_F(Shim, IgnoresTheTerminalAndPassesOnTerm) {
  const fs::Path dir = attempts_.make("0");
  const auto shim = attempts_.start_shim(
      dir, "trap 'echo term; exit 3' TERM; echo up; while :; do sleep 1; done");
  (void)await_run(dir);
  for (const int number : {SIGHUP, SIGINT}) ASSERT_TRUE(proc::signal_process(shim, number));
  ASSERT_TRUE(proc::signal_process(shim, SIGTERM));
  // If the shell has not set its trap yet, the signal itself ends it.
  const ContainerExit exit = await_exit(dir);
  EXPECT_TRUE(exit == (ContainerExit{Kind::code, 3, ""}) ||
              exit == (ContainerExit{Kind::signal, SIGTERM, ""}));
}

TEST_F(Shim, TakesWhatTheProgramLeavesBehindWithIt) {
  const fs::Path dir = attempts_.make("0");
  const fs::Path path = attempts_.root() / "pipe";
  const Descriptor pipe = make_pipe(path);
  ASSERT_EQ(::mkfifo((attempts_.root() / "ready").c_str(), 0600), 0);
  // One process stays in the group; the other starts a new session and becomes an orphan.
  attempts_.start_shim(dir, "exec 3> " + path.string() +
                                "; sleep 1000 & (setsid sh -c 'echo up > ready; sleep 1000' &);"
                                " read line < ready; exit 5");
  EXPECT_EQ(await_exit(dir), (ContainerExit{Kind::code, 5, ""}));
  EXPECT_EQ(next(pipe), "") << "a process still holds the pipe open";
}

TEST_F(Shim, HasNoPartInAnAttemptThatIsTaken) {
  const fs::Path dir = attempts_.make("0");
  const fs::Path trace = attempts_.root() / "trace";
  attempts_.start_shim(dir, "sleep 1000");
  const RunRecord run = await_run(dir);
  const auto second = attempts_.start_shim(dir, "echo second > " + trace.string());
  EXPECT_TRUE(await_end(second));
  EXPECT_EQ(proc::reap(second.pid), (proc::ExitStatus{false, 0}));
  EXPECT_EQ(read_run(dir).value(), run);

  // Nor in one that was given up before it began, or that has ended.
  const fs::Path ended = attempts_.make("1");
  const ExitRecord never{{Kind::never_began, 0, ""}, BootTime::now(SystemClock())};
  ASSERT_TRUE(fs::atomic_write(ended / exit_file, to_json(never)));
  const auto late = attempts_.start_shim(ended, "echo late > " + trace.string());
  EXPECT_TRUE(await_end(late));
  EXPECT_EQ(read_run(ended).error().code, Errc::not_found);
  EXPECT_EQ(fs::read_all(trace, 10).error().code, Errc::not_found);
}

TEST_F(Shim, ARemovedAttemptIsNotWaitedFor) {
  const fs::Path dir = attempts_.make("0");
  const auto shim = attempts_.start_shim(dir, "sleep 1000");
  const RunRecord run = await_run(dir);
  ASSERT_TRUE(fs::remove_tree(dir));
  test::kill_now(run.process);
  EXPECT_TRUE(await_end(shim));
  EXPECT_EQ(proc::reap(shim.pid), (proc::ExitStatus{false, 1}));
}

TEST_F(Shim, WhenItIsKilledTheProgramRunsOn) {
  const fs::Path dir = attempts_.make("0");
  const auto shim = attempts_.start_shim(dir, "touch up; exec sleep 1000");
  const RunRecord run = await_run(dir);
  ASSERT_TRUE(test::await_files(
      attempts_.root(), [this] { return std::filesystem::exists(attempts_.root() / "up"); }));
  ASSERT_TRUE(proc::signal_process(shim, SIGKILL));
  EXPECT_TRUE(await_end(shim));
  EXPECT_TRUE(proc::is_alive(run.process));
  EXPECT_EQ(read_exit(dir).error().code, Errc::not_found);
}

TEST_F(Shim, BadInputIsToldAsAFailedStart) {
  const fs::Path dir = attempts_.make("0");
  const auto shim = proc::spawn(
      {.argv = {test::test_program(), "shim", dir.string(), "/"}, .input = "not a launch"});
  ASSERT_TRUE(shim);
  EXPECT_TRUE(await_end(*shim));
  EXPECT_EQ(proc::reap(shim->pid), (proc::ExitStatus{false, 0}));
  EXPECT_EQ(await_exit(dir),
            (ContainerExit{Kind::failed, 0, "the launch data on standard input is invalid"}));
  const auto usage = proc::spawn({.argv = {test::test_program(), "shim", dir.string()}});
  ASSERT_TRUE(usage);
  EXPECT_TRUE(await_end(*usage));
  EXPECT_EQ(proc::reap(usage->pid), (proc::ExitStatus{false, 2}));
}

}  // namespace
}  // namespace holdfast::agent::node
