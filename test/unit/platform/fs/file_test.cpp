#include "platform/fs/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/support/full_disk.h"
#include "test/support/scratch_dir.h"

namespace holdfast::fs {
namespace {

class File : public testing::Test {
 protected:
  [[nodiscard]] Path at(const std::string& name) const { return dir_.path() / name; }

  [[nodiscard]] static mode_t mode_of(const Path& path) {
    struct stat found {};
    EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
    return found.st_mode & 07777;
  }

 private:
  test::ScratchDir dir_;
};

TEST_F(File, AtomicWriteReplacesTheWholeFile) {
  ASSERT_TRUE(atomic_write(at("a"), "a long first text"));
  ASSERT_TRUE(atomic_write(at("a"), std::string("b\0c", 3), 0640));
  EXPECT_EQ(read_all(at("a"), 100).value(), std::string("b\0c", 3));
  EXPECT_EQ(mode_of(at("a")), 0640u);
  EXPECT_EQ(list_dir(at("")).value(), std::vector<std::string>{"a"});
}

TEST_F(File, AtomicWriteOnAFullDiskLeavesTheOldFile) {
  ASSERT_TRUE(atomic_write(at("a"), "old"));
  {
    const test::FullDisk full(10);
    const auto written = atomic_write(at("a"), "much longer than ten bytes");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Errc::exhausted);
  }
  EXPECT_EQ(read_all(at("a"), 100).value(), "old");
  EXPECT_EQ(list_dir(at("")).value(), std::vector<std::string>{"a"});
}

TEST_F(File, AtomicWriteRemovesWhatACrashLeftAndNothingElse) {
  const std::vector<std::string> others{".a.0123456789abcdef.tmp.x", ".a.0123456789abcdeg.tmp",
                                        ".ab.0123456789abcdef.tmp", "a.tmp"};
  for (const std::string& name : others) ASSERT_TRUE(append(at(name), "x"));
  ASSERT_TRUE(append(at(".a.0123456789abcdef.tmp"), "half of an earlier wri"));
  ASSERT_TRUE(atomic_write(at("a"), "new"));
  EXPECT_EQ(read_all(at("a"), 100).value(), "new");
  std::vector<std::string> expected = others;
  expected.emplace_back("a");
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(list_dir(at("")).value(), expected);
}

// A user who may write to the directory must not be able to redirect a write to another file.
TEST_F(File, NothingIsWrittenThroughALink) {
  ASSERT_TRUE(append(at("victim"), "old"));
  for (const char* name : {"a", "a.tmp", "log", "lock"}) {
    ASSERT_EQ(::symlink(at("victim").c_str(), at(name).c_str()), 0);
  }
  ASSERT_TRUE(atomic_write(at("a"), "new"));
  EXPECT_EQ(read_all(at("a"), 100).value(), "new");
  EXPECT_EQ(append(at("log"), "x").error().code, Errc::invalid);
  EXPECT_EQ(FileLock::take(at("lock")).error().code, Errc::invalid);
  EXPECT_EQ(read_all(at("victim"), 100).value(), "old");
}

TEST_F(File, WhatCannotBeDoneSaysWhy) {
  ASSERT_TRUE(append(at("file"), "x"));
  ASSERT_TRUE(ensure_dir(at("dir")));
  const struct {
    std::string name;
    Status got;
    Errc expect;
  } rows[] = {
      {"no such directory", atomic_write(at("none/a"), "x"), Errc::not_found},
      {"a directory in the way", atomic_write(at("dir"), "x"), Errc::invalid},
      {"append into nothing", append(at("none/a"), "x"), Errc::not_found},
      {"full device", append("/dev/full", "x"), Errc::exhausted},
      {"a file where a directory should be", ensure_dir(at("file")), Errc::conflict},
      {"a file on the way", ensure_dir(at("file/dir")), Errc::conflict},
      {"sync nothing", sync_dir(at("none")), Errc::not_found},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    ASSERT_FALSE(row.got);
    EXPECT_EQ(row.got.error().code, row.expect) << row.got.error().what;
    EXPECT_NE(row.got.error().what.find('/'), std::string::npos) << "the error must name the file";
  }
  EXPECT_EQ(read_all(at("none"), 1).error().code, Errc::not_found);
  EXPECT_EQ(read_all(at("dir"), 1).error().code, Errc::invalid);
  EXPECT_EQ(list_dir(at("none")).error().code, Errc::not_found);
}

TEST_F(File, ReadStopsAtItsLimit) {
  ASSERT_TRUE(append(at("a"), std::string(9000, 'x')));
  EXPECT_EQ(read_all(at("a"), 9000).value().size(), 9000u);
  EXPECT_EQ(read_all(at("a"), 8999).error().code, Errc::exhausted);
  EXPECT_EQ(read_all("/dev/zero", 1 << 20).error().code, Errc::exhausted);
  EXPECT_EQ(read_all("/proc/self/comm", 64).value().empty(), false);
}

TEST_F(File, AppendAdds) {
  ASSERT_TRUE(append(at("a"), "one\n"));
  ASSERT_TRUE(append(at("a"), "two\n"));
  EXPECT_EQ(read_all(at("a"), 100).value(), "one\ntwo\n");
  EXPECT_EQ(mode_of(at("a")), private_file);
}

TEST_F(File, DirectoriesComeWithTheirParentsAndGoWithTheirChildren) {
  ASSERT_TRUE(ensure_dir(at("a/b/c"), 0750));
  ASSERT_TRUE(ensure_dir(at("a/b/c"), 0700));
  EXPECT_EQ(mode_of(at("a/b/c")), 0750u);
  ASSERT_TRUE(append(at("a/b/c/file"), "x"));
  ASSERT_TRUE(append(at("a/b/another"), "x"));
  EXPECT_EQ(list_dir(at("a/b")).value(), (std::vector<std::string>{"another", "c"}));
  ASSERT_TRUE(remove_tree(at("a")));
  ASSERT_TRUE(remove_tree(at("a")));
  EXPECT_EQ(list_dir(at("")).value(), std::vector<std::string>{});
}

TEST_F(File, ALockHasOneHolderAndEndsWithIt) {
  {
    const auto first = FileLock::take(at("lock"));
    ASSERT_TRUE(first);
    const auto second = FileLock::take(at("lock"));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::conflict);
    EXPECT_EQ(second.error().what,
              "lock " + at("lock").string() + ": held by process " + std::to_string(::getpid()));
  }
  EXPECT_TRUE(FileLock::take(at("lock")));
  EXPECT_EQ(FileLock::take(at("none/lock")).error().code, Errc::not_found);
}

TEST_F(File, ALockNeedsNoRoomForItsPid) {
  const test::FullDisk full(0);
  EXPECT_TRUE(FileLock::take(at("lock")));
}

}  // namespace
}  // namespace holdfast::fs
