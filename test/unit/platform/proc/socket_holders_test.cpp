// Which process holds a socket, and in which cgroups it is.

#include "platform/proc/socket_holders.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "test/support/scratch_dir.h"

namespace holdfast::proc {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime now{1h};

// A /proc of its own: processes with links where descriptors are.
struct Processes {
  test::ScratchDir dir;

  void add(int pid, const std::string& program, std::uint64_t inode, const std::string& cgroup) {
    const fs::Path process = dir.path() / std::to_string(pid);
    std::filesystem::create_directories(process / "fd");
    std::filesystem::create_symlink("/dev/null", process / "fd" / "0");
    std::filesystem::create_symlink("socket:[" + std::to_string(inode) + "]", process / "fd" / "5");
    std::filesystem::create_symlink("/usr/bin/" + program, process / "exe");
    std::ofstream(process / "cgroup") << "4:memory:" << cgroup << "\n0::/\n";
  }
};

TEST(SocketHolders, OfTheRunningKernelFindsOurselves) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  struct stat status {};
  ASSERT_EQ(::fstat(socket.get(), &status), 0);
  SocketHolders holders;
  const auto holder = holders.find(status.st_ino, now);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->pid, ::getpid());
  EXPECT_FALSE(holder->program.empty());
  EXPECT_FALSE(holder->cgroups.empty());
  const auto nobody = holders.find(status.st_ino + 1'000'000'000, now);
  EXPECT_EQ(nobody.error().code, Errc::not_found);
}

TEST(SocketHolders, DescribesTheProcessByItsProgramAndCgroups) {
  Processes processes;
  processes.add(10, "kubelet (deleted)", 100, "/system.slice/kubelet.service");
  processes.add(11, "curl", 101, "/kubepods/burstable/poda/b");
  SocketHolders holders({}, processes.dir.path());
  const SocketHolder kubelet{10, "kubelet", {"/system.slice/kubelet.service", "/"}};
  const SocketHolder curl{11, "curl", {"/kubepods/burstable/poda/b", "/"}};
  EXPECT_EQ(holders.find(100, now).value(), kubelet);
  EXPECT_EQ(holders.find(101, now).value(), curl);
  EXPECT_EQ(holders.find(102, now).error().code, Errc::not_found);
}

TEST(SocketHolders, StrangersCannotSpendTheBudgetOfRememberedProcesses) {
  Processes processes;
  processes.add(10, "kubelet", 100, "/");
  processes.add(11, "curl", 101, "/");
  const HolderLimits limits{.entries_per_second = 10, .entries_burst = 10};
  SocketHolders holders(limits, processes.dir.path());
  ASSERT_TRUE(holders.find(100, now));
  holders.remember(10);
  for (int i = 0; i < 10; ++i) (void)holders.find(999, now);
  EXPECT_EQ(holders.find(101, now).error().code, Errc::exhausted) << "the budget is spent";
  EXPECT_TRUE(holders.find(100, now)) << "remembered";
  EXPECT_TRUE(holders.find(101, now + 1s)) << "the budget has grown again";
}

TEST(SocketHolders, FindsACgroupByItsIdWhereVersion2Is) {
  test::ScratchDir dir;
  const fs::Path pod = dir.path() / "unified" / "kubepods.slice" / "pod.slice";
  std::filesystem::create_directories(pod);
  std::filesystem::create_directories(dir.path() / "memory" / "other");
  struct stat inside {};
  ASSERT_EQ(::stat(pod.c_str(), &inside), 0);
  EXPECT_EQ(SocketHolders({}, "/proc", dir.path()).cgroup_path(inside.st_ino), std::nullopt)
      << "version 2 is not mounted there";
  std::ofstream(dir.path() / "unified" / "cgroup.controllers") << "cpu\n";
  SocketHolders holders({}, "/proc", dir.path());
  EXPECT_EQ(holders.cgroup_path(inside.st_ino), "/kubepods.slice/pod.slice");
  EXPECT_EQ(holders.cgroup_path(inside.st_ino), "/kubepods.slice/pod.slice");
  EXPECT_EQ(holders.cgroup_path(1), std::nullopt) << "the root's";
  struct stat outside {};
  ASSERT_EQ(::stat((dir.path() / "memory" / "other").c_str(), &outside), 0);
  EXPECT_EQ(holders.cgroup_path(outside.st_ino), std::nullopt) << "of version 1";
}

TEST(SocketHolders, ReadsBothVersionsOfCgroups) {
  EXPECT_EQ(cgroups_in("12:pids:/a:b\n0::/c\n"), (std::vector<std::string>{"/a:b", "/c"}));
  EXPECT_EQ(cgroups_in("0::/\n"), (std::vector<std::string>{"/"}));
  EXPECT_TRUE(cgroups_in("").empty());
  EXPECT_TRUE(cgroups_in("nonsense\n1:x").empty());
}

}  // namespace
}  // namespace holdfast::proc
