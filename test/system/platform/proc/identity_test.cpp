#include "platform/proc/identity.h"

#include <signal.h>
#include <unistd.h>

#include "platform/proc/process.h"

namespace holdfast::proc {
namespace {

using namespace std::chrono_literals;

ProcessIdentity start(std::vector<std::string> argv) {
  const auto started = spawn({.argv = std::move(argv)});
  EXPECT_TRUE(started) << started.error().what;
  return started.value();
}

// Waits for the end of the child and reaps it.
void finish(const ProcessIdentity& child) {
  const auto pidfd = open_pidfd(child);
  (void)signal_process(child, SIGKILL).has_value();
  if (pidfd) {
    EXPECT_TRUE(wait_for_end(*pidfd, 10s));
  }
  (void)reap(child.pid);
}

TEST(Identity, StatOfAnyCommandName) {
  const std::string rest =
      " S 1 42 42 0 -1 4194560 96 0 0 0 0 0 0 0 20 0 3 0 1234567 2301952 200 18446744073709551615";
  for (const std::string command : {"sleep", "a b", "a) R 7 7", "((", ") ) S 1", ""}) {
    const auto stat = parse_stat("99 (" + command + ")" + rest + "\n");
    ASSERT_TRUE(stat) << command;
    EXPECT_EQ(*stat, (ProcessStat{'S', 1, 42, 3, 1234567}));
  }
}

TEST(Identity, StatThatIsNone) {
  for (const char* line : {"", "1 (a", "1 (a) ", "1 (a) S 1 42",
                           "1 (a) SS 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18",
                           "1 (a) S x 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19",
                           "1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 -19"}) {
    const auto stat = parse_stat(line);
    ASSERT_FALSE(stat) << line;
    EXPECT_EQ(stat.error().code, Errc::corrupt);
  }
}

TEST(Identity, AZombieIsDeadUnlessItsOtherThreadsRun) {
  const struct {
    char state;
    std::int64_t threads;
    bool dead;
  } rows[] = {{'R', 1, false}, {'S', 1, false}, {'D', 1, false}, {'T', 1, false},
              {'Z', 1, true},  {'Z', 0, true},  {'Z', 2, false}, {'X', 1, true}};
  for (const auto& row : rows) {
    const ProcessStat stat{row.state, 1, 1, row.threads, 1};
    EXPECT_EQ(stat.is_dead(), row.dead) << row.state << row.threads;
  }
}

TEST(Identity, WeAreAlive) {
  const auto self = identify(::getpid());
  ASSERT_TRUE(self);
  EXPECT_TRUE(is_alive(*self));
  EXPECT_EQ(identify(::getpid()).value(), *self);
  EXPECT_EQ(self->boot_id.size(), 36u);
}

TEST(Identity, ARecycledPidIsAStranger) {
  const ProcessIdentity child = start({"sleep", "1000"});
  ProcessIdentity earlier = child;
  earlier.start_ticks -= 1;
  ProcessIdentity last_boot = child;
  last_boot.boot_id = "00000000-0000-0000-0000-000000000000";
  for (const ProcessIdentity& stranger : {earlier, last_boot}) {
    EXPECT_FALSE(is_alive(stranger));
    EXPECT_EQ(open_pidfd(stranger).error().code, Errc::not_found);
    EXPECT_EQ(signal_group(stranger, SIGKILL).error().code, Errc::not_found);
    EXPECT_EQ(signal_process(stranger, SIGKILL).error().code, Errc::not_found);
  }
  EXPECT_TRUE(is_alive(child)) << "a signal for another process reached this one";
  finish(child);
}

TEST(Identity, NobodyIsNotFound) {
  for (const pid_t pid : {0, -1, 1 << 30}) {
    EXPECT_EQ(identify(pid).error().code, Errc::not_found) << pid;
    EXPECT_EQ(open_pidfd({pid, 1, "x"}).error().code, Errc::not_found) << pid;
    EXPECT_EQ(signal_group({pid, 1, "x"}, SIGKILL).error().code, Errc::not_found) << pid;
    EXPECT_FALSE(is_alive({pid, 1, "x"}));
    EXPECT_EQ(reap(pid), std::nullopt);
  }
}

TEST(Identity, TheEndIsSeenBeforeTheZombieIsCollected) {
  const ProcessIdentity child = start({"sh", "-c", "read line; exit 7"});
  // Its standard input is /dev/null, so it ends at once.
  const auto pidfd = open_pidfd(child);
  if (pidfd) {
    ASSERT_TRUE(wait_for_end(*pidfd, 10s));
  }
  EXPECT_FALSE(is_alive(child));
  EXPECT_EQ(open_pidfd(child).error().code, Errc::not_found);
  EXPECT_EQ(reap(child.pid), (ExitStatus{false, 7}));
  EXPECT_EQ(reap(child.pid), std::nullopt);
}

TEST(Identity, WaitingForTheEndGivesUpInTime) {
  const ProcessIdentity child = start({"sleep", "1000"});
  const auto pidfd = open_pidfd(child);
  ASSERT_TRUE(pidfd);
  EXPECT_FALSE(wait_for_end(*pidfd, 1ms));
  EXPECT_FALSE(wait_for_end(*pidfd, -1s));
  EXPECT_EQ(reap(child.pid), std::nullopt);
  ASSERT_TRUE(signal_process(child, SIGTERM));
  EXPECT_TRUE(wait_for_end(*pidfd, 10s));
  EXPECT_EQ(reap(child.pid), (ExitStatus{true, SIGTERM}));
}

}  // namespace
}  // namespace holdfast::proc
