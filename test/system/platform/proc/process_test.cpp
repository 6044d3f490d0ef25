#include "platform/proc/process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "platform/fs/file.h"
#include "platform/text.h"
#include "test/support/scratch_dir.h"

namespace holdfast::proc {
namespace {

using namespace std::chrono_literals;

class Process : public testing::Test {
 protected:
  // Runs a shell script to its end.
  ExitStatus run(const std::string& script, std::vector<std::string> env = {}) {
    const auto child = spawn({.argv = {"/bin/sh", "-c", script},
                              .env = std::move(env),
                              .working_directory = dir_.path(),
                              .log = log()});
    EXPECT_TRUE(child) << child.error().what;
    return end_of(child.value());
  }

  static ExitStatus end_of(const ProcessIdentity& child) {
    const auto pidfd = open_pidfd(child);
    if (pidfd) {
      EXPECT_TRUE(wait_for_end(*pidfd, 20s));
    }
    return reap(child.pid).value();
  }

  [[nodiscard]] fs::Path log() const { return dir_.path() / "log"; }
  [[nodiscard]] std::string logged() const { return fs::read_all(log(), 1 << 20).value(); }

  test::ScratchDir dir_;
};

TEST_F(Process, ReturnsItsCodeOrSignal) {
  EXPECT_EQ(run("exit 0"), (ExitStatus{false, 0}));
  EXPECT_EQ(run("exit 42"), (ExitStatus{false, 42}));
  EXPECT_EQ(run("kill -9 $$"), (ExitStatus{true, SIGKILL}));
}

TEST_F(Process, HasExactlyTheEnvironmentItWasGiven) {
  (void)run("printf '%s|%s|%s\n' \"$A\" \"$B\" \"${HOME-unset}\"; pwd; umask", {"A=1 2", "B=x=y"});
  EXPECT_EQ(logged(), "1 2|x=y|unset\n" + dir_.path().string() + "\n0022\n");
}

TEST_F(Process, ReadsItsInput) {
  const std::string input = "one\ntwo\n" + std::string(100'000, 'x');
  const auto child = spawn({.argv = {"cat"}, .input = input, .log = log()});
  ASSERT_TRUE(child) << child.error().what;
  EXPECT_EQ(end_of(*child), (ExitStatus{false, 0}));
  EXPECT_EQ(logged(), input);
}

TEST_F(Process, AppendsBothOutputsToItsPrivateLog) {
  (void)run("echo out; echo err >&2");
  (void)run("echo again");
  EXPECT_EQ(logged(), "out\nerr\nagain\n");
  struct stat found {};
  ASSERT_EQ(::stat(log().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST_F(Process, InheritsNoDescriptorSignalOrSession) {
  const Descriptor leaked(::open("/dev/null", O_RDONLY));  // without CLOEXEC
  const Descriptor high(::fcntl(leaked.get(), F_DUPFD, 700));
  auto* const before = ::signal(SIGUSR1, SIG_IGN);
  // `ls` itself opens one descriptor, for the directory.
  EXPECT_EQ(run("ls /proc/self/fd | wc -l; grep -E 'Sig(Ign|Blk)' /proc/self/status"),
            (ExitStatus{false, 0}));
  (void)::signal(SIGUSR1, before);
  EXPECT_EQ(logged(), "4\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(Process, LeadsItsOwnSessionAndGroup) {
  const auto child = spawn({.argv = {"sleep", "1000"}});
  ASSERT_TRUE(child);
  EXPECT_EQ(read_stat(child->pid)->group, child->pid);
  EXPECT_EQ(::getsid(child->pid), child->pid);
  ASSERT_TRUE(signal_group(*child, SIGKILL));
  EXPECT_EQ(end_of(*child), (ExitStatus{true, SIGKILL}));
}

TEST_F(Process, ASignalToTheGroupReachesItsGrandchildren) {
  const fs::Path pipe = dir_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Descriptor reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  // The grandchild holds the pipe open, so the end of the pipe shows the end of the grandchild.
  const auto child = spawn({.argv = {"sh", "-c", "(echo ready; sleep 1000) > pipe & wait"},
                            .working_directory = dir_.path()});
  ASSERT_TRUE(child) << child.error().what;
  std::array<char, 16> buffer{};
  ASSERT_TRUE(wait_for_end(reader, 20s)) << "no line from the grandchild";
  ASSERT_GT(::read(reader.get(), buffer.data(), buffer.size()), 0);
  ASSERT_TRUE(signal_group(*child, SIGTERM));
  EXPECT_TRUE(wait_for_end(reader, 20s));
  EXPECT_EQ(::read(reader.get(), buffer.data(), buffer.size()), 0);
  EXPECT_EQ(end_of(*child), (ExitStatus{true, SIGTERM}));
}

TEST_F(Process, WhatCannotStartSaysWhy) {
  ASSERT_TRUE(fs::append(dir_.path() / "script", "no program\n"));
  const std::string script = (dir_.path() / "script").string();
  const struct {
    SpawnPlan plan;
    Errc code;
    std::string what;
  } rows[] = {
      {{.argv = {}}, Errc::invalid, "start a program: its argv is empty"},
      {{.argv = {""}}, Errc::invalid, "start a program: its argv is empty"},
      {{.argv = {"a", std::string("b\0c", 3)}},
       Errc::invalid,
       "start a: NUL in an argument or variable"},
      {{.argv = {"no-such-program"}},
       Errc::not_found,
       "start no-such-program: No such file or directory"},
      {{.argv = {"sh"}, .env = {"PATH=/nowhere:/proc"}},
       Errc::not_found,
       "start sh: No such file or directory"},
      {{.argv = {script}}, Errc::denied, "start " + script + ": Permission denied"},
      {{.argv = {"sh"}, .working_directory = "/nowhere"},
       Errc::not_found,
       "start sh: enter its working directory: No such file or directory"},
      {{.argv = {"sh"}, .log = "/nowhere/log"},
       Errc::not_found,
       "start sh: open its log: No such file or directory"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const auto child = spawn(row.plan);
    ASSERT_FALSE(child);
    EXPECT_EQ(child.error().code, row.code);
    EXPECT_EQ(child.error().what, row.what);
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child was not reaped";
}

TEST_F(Process, AFileThatIsNoProgramIsInvalid) {
  const fs::Path script = dir_.path() / "script";
  ASSERT_TRUE(fs::atomic_write(script, "no program\n", 0700));
  const auto child = spawn({.argv = {script}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, Errc::invalid);
}

TEST_F(Process, EndsWithItsParentIfThatIsWanted) {
  for (const bool wanted : {true, false}) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const pid_t parent = ::fork();
    ASSERT_GE(parent, 0);
    if (parent == 0) {
      const auto child = spawn({.argv = {"/bin/sleep", "60"}, .ends_with_parent = wanted});
      const pid_t pid = child ? child->pid : -1;
      ::_exit(::write(pipe[1], &pid, sizeof pid) == sizeof pid ? 0 : 1);
    }
    pid_t pid = -1;
    EXPECT_EQ(::read(pipe[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
    EXPECT_EQ(::waitpid(parent, nullptr, 0), parent);
    ::close(pipe[0]);
    ::close(pipe[1]);
    ASSERT_GT(pid, 0);
    const auto orphan = identify(pid);
    if (wanted) {
      // It may have been reaped already.
      const auto pidfd = orphan ? open_pidfd(*orphan) : Result<Descriptor>(Descriptor());
      EXPECT_TRUE(!orphan || !pidfd || wait_for_end(*pidfd, 20s));
    } else {
      ASSERT_TRUE(orphan);
      EXPECT_TRUE(is_alive(*orphan));
      EXPECT_TRUE(signal_process(*orphan, SIGKILL));
    }
  }
}

TEST_F(Process, RunsNothingUntilReleased) {
  const fs::Path trace = dir_.path() / "trace";
  const SpawnPlan plan{.argv = {"/bin/sh", "-c", "echo ran > " + trace.string()}};
  ProcessIdentity given_up;
  {
    const auto launch = Launch::prepare(plan);
    ASSERT_TRUE(launch);
    given_up = launch->identity();
    EXPECT_TRUE(is_alive(given_up));
  }
  EXPECT_FALSE(is_alive(given_up));
  EXPECT_EQ(fs::read_all(trace, 10).error().code, Errc::not_found);

  auto launch = Launch::prepare(plan);
  ASSERT_TRUE(launch);
  ASSERT_TRUE(launch->release());
  EXPECT_EQ(end_of(launch->identity()), (ExitStatus{false, 0}));
  EXPECT_EQ(fs::read_all(trace, 10).value(), "ran\n");
}

TEST_F(Process, WhatWaitsHoldsNoLockOfOurs) {
  auto lock = std::make_unique<fs::FileLock>(fs::FileLock::take(dir_.path() / "lock").value());
  const auto launch = Launch::prepare({.argv = {"sleep", "1000"}});
  ASSERT_TRUE(launch);
  // The process creates its session after it has closed the descriptors.
  while (::getsid(launch->identity().pid) != launch->identity().pid) (void)::sched_yield();
  lock.reset();
  EXPECT_TRUE(fs::FileLock::take(dir_.path() / "lock"));
}

TEST_F(Process, ALaunchWhoseProcessWasKilledIsAnErrorNotASignalToUs) {
  auto launch = Launch::prepare({.argv = {"sleep", "1000"}});
  ASSERT_TRUE(launch);
  const auto pidfd = open_pidfd(launch->identity());
  ASSERT_TRUE(signal_process(launch->identity(), SIGKILL));
  if (pidfd) {
    ASSERT_TRUE(wait_for_end(*pidfd, 20s));
  }
  EXPECT_FALSE(launch->release());
}

}  // namespace
}  // namespace holdfast::proc
