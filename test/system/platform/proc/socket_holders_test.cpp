// Which process holds a socket, and the cgroups of that process.

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

// A fake /proc: processes with symbolic links as descriptors.
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
  void open_more(int pid, int descriptors) {
    const fs::Path fd = dir.path() / std::to_string(pid) / "fd";
    for (int i = 0; i < descriptors; ++i) {
      std::filesystem::create_symlink("/dev/zero", fd / std::to_string(1000 + i));
    }
  }
};

TEST(SocketHolders, OfTheRunningKernelFindsOurselves) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  struct stat status {};
  ASSERT_EQ(::fstat(socket.get(), &status), 0);
  SocketHolders holders;
  const auto holder = holders.find(status.st_ino, 0, now);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->pid, ::getpid());
  EXPECT_FALSE(holder->program.empty());
  EXPECT_FALSE(holder->cgroups.empty());
  const auto nobody = holders.find(status.st_ino + 1'000'000'000, 0, now);
  EXPECT_EQ(nobody.error().code, Errc::not_found);
}

TEST(SocketHolders, DescribesTheProcessByItsProgramAndCgroups) {
  Processes processes;
  processes.add(10, "kubelet (deleted)", 100, "/system.slice/kubelet.service");
  processes.add(11, "curl", 101, "/kubepods/burstable/poda/b");
  SocketHolders holders({}, processes.dir.path());
  const SocketHolder kubelet{10, "kubelet", {"/system.slice/kubelet.service", "/"}};
  const SocketHolder curl{11, "curl", {"/kubepods/burstable/poda/b", "/"}};
  EXPECT_EQ(holders.find(100, 0, now).value(), kubelet);
  EXPECT_EQ(holders.find(101, 0, now).value(), curl);
  EXPECT_EQ(holders.find(102, 0, now).error().code, Errc::not_found);
}

TEST(SocketHolders, TellsWhatAProcessWasCalledAs) {
  Processes processes;
  processes.add(10, "k3s", 100, "/");
  const fs::Path process = processes.dir.path() / "10";
  std::ofstream(process / "cmdline") << "/var/lib/k3s/bin/containerd" << '\0' << "-c" << '\0';
  std::ofstream(process / "comm") << "containerd-shim\n";
  SocketHolders holders({}, processes.dir.path());
  const std::vector<std::string> called = {"containerd", "containerd-shim"};
  EXPECT_EQ(holders.find(100, 0, now)->called, called);
}

// Examining one of these processes costs three entries: itself and its two descriptors.
const HolderLimits small{.each = {.burst = 12, .per_second = 12},
                         .total = {.burst = 24, .per_second = 12}};

TEST(SocketHolders, RememberedProcessesAreFoundWhenTheBudgetIsSpent) {
  Processes processes;
  processes.add(10, "kubelet", 100, "/");
  processes.add(11, "curl", 101, "/");
  processes.add(12, "containerd", 102, "/");
  SocketHolders holders(small, processes.dir.path());
  holders.remember(10);
  holders.remember_relay(12);
  for (int i = 0; i < 10; ++i) (void)holders.find(999, 7, now);
  EXPECT_EQ(holders.find(101, 7, now).error().code, Errc::exhausted) << "the budget is spent";
  EXPECT_TRUE(holders.find(100, 7, now)) << "remembered";
  EXPECT_TRUE(holders.find(102, 7, now)) << "remembered";
  EXPECT_TRUE(holders.find(101, 7, now + 1s)) << "the budget has grown again";
}

TEST(SocketHolders, WhoeverSpendsTheBudgetOfACgroupSpendsNoOthers) {
  Processes processes;
  processes.add(10, "kubelet", 100, "/");
  processes.add(11, "curl", 101, "/");
  SocketHolders holders(small, processes.dir.path());
  for (int i = 0; i < 10; ++i) (void)holders.find(999, 7, now);
  EXPECT_EQ(holders.find(100, 7, now).error().code, Errc::exhausted);
  EXPECT_TRUE(holders.find(100, 8, now));
  for (int i = 0; i < 10; ++i) (void)holders.find(999, 8, now);
  EXPECT_EQ(holders.find(100, 9, now).error().code, Errc::exhausted)
      << "the budget of all cgroups is spent";
}

TEST(SocketHolders, AnUnknownCgroupHasTheBudgetOfAll) {
  Processes processes;
  processes.add(10, "kubelet", 100, "/");
  for (const std::uint64_t cgroup : {0U, 1U, 7U}) {
    SocketHolders holders(small, processes.dir.path());
    int searched = 0;
    while (holders.find(999, cgroup, now).error().code == Errc::not_found) ++searched;
    EXPECT_EQ(searched, cgroup == 7 ? 4 : 8) << cgroup;
  }
}

TEST(SocketHolders, RelaysDoNotDisplaceTheNodesProcesses) {
  Processes processes;
  processes.add(10, "kubelet", 100, "/");
  SocketHolders holders(small, processes.dir.path());
  holders.remember(10);
  for (pid_t pid = 1000; pid < 1100; ++pid) holders.remember_relay(pid);
  for (int i = 0; i < 10; ++i) (void)holders.find(999, 7, now);
  EXPECT_TRUE(holders.find(100, 7, now));
}

// A process that is not examined completely might hold the socket.
TEST(SocketHolders, AProcessWithManyDescriptorsIsLeftOutAndHoldsNobodyUp) {
  Processes processes;
  processes.add(10, "proxy", 100, "/");
  processes.open_more(10, 50);
  processes.add(11, "curl", 101, "/");
  SocketHolders holders({.descriptors = 20, .descriptors_first = 5}, processes.dir.path());
  EXPECT_TRUE(holders.find(101, 0, now));
  EXPECT_EQ(holders.find(999, 0, now).error().code, Errc::exhausted);
  holders.remember(10);
  EXPECT_TRUE(holders.find(101, 0, now));
}

TEST(SocketHolders, KnowsWhetherItSeesAllProcesses) {
  Processes processes;
  processes.add(10, "kubelet", 100, "/");
  EXPECT_FALSE(SocketHolders({}, processes.dir.path()).sees_all());
  processes.add(1, "systemd", 99, "/");
  EXPECT_TRUE(SocketHolders({}, processes.dir.path()).sees_all());
}

TEST(SocketHolders, FindsACgroupByItsIdWhereVersion2Is) {
  test::ScratchDir dir;
  const fs::Path pod = dir.path() / "unified" / "kubepods.slice" / "pod.slice";
  std::filesystem::create_directories(pod);
  std::filesystem::create_directories(dir.path() / "memory" / "other");
  struct stat inside {};
  ASSERT_EQ(::stat(pod.c_str(), &inside), 0);
  EXPECT_EQ(SocketHolders({}, "/proc", dir.path()).cgroup_path(inside.st_ino, now), std::nullopt)
      << "cgroup v2 is not mounted there";
  std::ofstream(dir.path() / "unified" / "cgroup.controllers") << "cpu\n";
  SocketHolders holders({}, "/proc", dir.path());
  EXPECT_EQ(holders.cgroup_path(inside.st_ino, now), "/kubepods.slice/pod.slice");
  EXPECT_EQ(holders.cgroup_path(inside.st_ino, now), "/kubepods.slice/pod.slice");
  EXPECT_EQ(holders.cgroup_path(1, now), std::nullopt) << "the id of the root cgroup";
  struct stat outside {};
  ASSERT_EQ(::stat((dir.path() / "memory" / "other").c_str(), &outside), 0);
  EXPECT_EQ(holders.cgroup_path(outside.st_ino, now), std::nullopt) << "a cgroup of version 1";
}

TEST(SocketHolders, ACgroupThatIsNotFoundIsNotLookedForAtOnce) {
  test::ScratchDir dir;
  std::filesystem::create_directories(dir.path() / "a");
  std::ofstream(dir.path() / "cgroup.controllers") << "cpu\n";
  // Created elsewhere and moved here later, so that its id is known beforehand.
  test::ScratchDir elsewhere;
  std::filesystem::create_directories(elsewhere.path() / "late");
  struct stat late {};
  ASSERT_EQ(::stat((elsewhere.path() / "late").c_str(), &late), 0);
  SocketHolders holders({.missing = 10s}, "/proc", dir.path());
  EXPECT_EQ(holders.cgroup_path(late.st_ino, now), std::nullopt);
  std::filesystem::rename(elsewhere.path() / "late", dir.path() / "late");
  EXPECT_EQ(holders.cgroup_path(late.st_ino, now + 9s), std::nullopt);
  EXPECT_EQ(holders.cgroup_path(late.st_ino, now + 10s), "/late");
}

TEST(SocketHolders, LookingForACgroupCostsItsBudget) {
  test::ScratchDir dir;
  for (int i = 0; i < 100; ++i) {
    std::filesystem::create_directories(dir.path() / std::to_string(i));
  }
  std::filesystem::create_directories(dir.path() / "50" / "deep");
  std::ofstream(dir.path() / "cgroup.controllers") << "cpu\n";
  struct stat deep {};
  ASSERT_EQ(::stat((dir.path() / "50" / "deep").c_str(), &deep), 0);
  Processes processes;
  processes.add(10, "kubelet", 100, "/");
  const EntryRate rate{.burst = 100, .per_second = 10'000};
  SocketHolders holders({.each = rate}, processes.dir.path(), dir.path());
  EXPECT_EQ(holders.cgroup_path(999'999'999, now), std::nullopt);
  EXPECT_EQ(holders.find(100, 999'999'999, now).error().code, Errc::exhausted);
  EXPECT_TRUE(holders.find(100, 0, now)) << "another cgroup has its own budget";
  HolderLimits enough;
  enough.each = {.burst = 2000, .per_second = 1};
  EXPECT_EQ(SocketHolders(enough, processes.dir.path(), dir.path()).cgroup_path(deep.st_ino, now),
            "/50/deep");
}

TEST(SocketHolders, ReadsBothVersionsOfCgroups) {
  EXPECT_EQ(cgroups_in("12:pids:/a:b\n0::/c\n"), (std::vector<std::string>{"/a:b", "/c"}));
  EXPECT_EQ(cgroups_in("0::/\n"), (std::vector<std::string>{"/"}));
  EXPECT_TRUE(cgroups_in("").empty());
  EXPECT_TRUE(cgroups_in("nonsense\n1:x").empty());
}

}  // namespace
}  // namespace holdfast::proc
