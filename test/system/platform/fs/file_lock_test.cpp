// A lock whose owner's child outlives it.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/fs/file.h"
#include "test/support/scratch_dir.h"

namespace holdfast::fs {
namespace {

// An owner that is killed while it starts a process leaves a child that still holds the lock.
TEST(FileLock, OfAnEndedOwnerIsWaitedFor) {
  const test::ScratchDir dir;
  const Path lock_path = dir.path() / "lock";
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto lock = FileLock::take(lock_path);
    const pid_t child = ::fork();
    if (child == 0) (void)::poll(nullptr, 0, 50);
    ::_exit(lock ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(owner, &status, 0), owner);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(FileLock::take(lock_path));
}

}  // namespace
}  // namespace holdfast::fs
