// Which local processes act as the node.

#include "agent/edge/door/local_callers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/edge/door/request_gate.h"
#include "agent/edge/route/caller.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent {
namespace {

// A fake /proc and fake cgroups of version 2.
class LocalCallersTest : public testing::Test {
 protected:
  LocalCallersTest() {
    std::filesystem::create_directories(cgroups() / "system.slice" / "kubelet.service");
    std::filesystem::create_directories(cgroups() / "kubepods" / "pod1");
    std::ofstream(cgroups() / "cgroup.controllers") << "cpu\n";
    options_.allowed_uids = {"0"};
  }

  [[nodiscard]] fs::Path proc() const { return dir_.path() / "proc"; }
  [[nodiscard]] fs::Path cgroups() const { return dir_.path() / "cgroup"; }
  [[nodiscard]] std::uint64_t id_of(const char* cgroup) const {
    struct stat facts {};
    EXPECT_EQ(::stat((cgroups() / cgroup).c_str(), &facts), 0);
    return facts.st_ino;
  }

  void add(int pid, const std::string& program, std::uint64_t inode, const std::string& cgroup,
           const std::string& called = "") {
    const fs::Path process = proc() / std::to_string(pid);
    std::filesystem::create_directories(process / "fd");
    std::filesystem::create_symlink("socket:[" + std::to_string(inode) + "]", process / "fd" / "5");
    std::filesystem::create_symlink("/usr/bin/" + program, process / "exe");
    std::ofstream(process / "cgroup") << "0::" << cgroup << "\n";
    std::ofstream(process / "comm") << (called.empty() ? program : called) << "\n";
  }

  [[nodiscard]] LocalCallers callers(const proc::HolderLimits& limits = {}) const {
    return {options_, clock_, proc::SocketHolders(limits, proc(), cgroups())};
  }

  static bool acts(LocalCallers& callers, const net::SocketOwner& owner) {
    return callers.check_acts_as_node({.address = "127.0.0.1", .owner = owner}).has_value();
  }

  EdgeOptions options_;
  test::VirtualClock clock_;

 private:
  test::ScratchDir dir_;
};

TEST_F(LocalCallersTest, OnlyAProcessOfTheHostDoes) {
  add(1, "systemd", 99, "/init.scope");
  add(10, "kubelet", 100, "/system.slice/kubelet.service");
  add(11, "sh", 101, "/kubepods/pod1");
  add(12, "containerd", 102, "/system.slice/containerd.service");
  add(13, "k3s", 103, "/system.slice/k3s.service", "containerd");
  add(14, "k3s", 104, "/system.slice/k3s.service", "k3s-server");
  add(15, "sh", 105, "/system.slice/docker-" + std::string(64, 'a') + ".scope");
  const std::pair<std::uint64_t, bool> rows[] = {{100, true},  {101, false}, {102, false},
                                                 {103, false}, {104, true},  {105, false},
                                                 {106, false}};
  LocalCallers classifier = callers();
  for (const auto& [inode, good] : rows) {
    EXPECT_EQ(acts(classifier, {.uid = 0, .inode = inode, .cookie = inode}), good) << inode;
    EXPECT_FALSE(acts(classifier, {.uid = 1000, .inode = inode, .cookie = inode})) << inode;
  }
  options_.trust_host_network_pods = true;
  EXPECT_TRUE(acts(classifier, {.uid = 0, .inode = 101, .cookie = 101}));
  EXPECT_FALSE(acts(classifier, {.uid = 0, .inode = 102, .cookie = 102}));
  EXPECT_TRUE(acts(classifier, {.uid = 0, .inode = 106, .cookie = 106})) << "it cannot be found";
  EXPECT_FALSE(acts(classifier, {.uid = 1000, .inode = 106, .cookie = 106}));
}

// Without permission to see other processes, the cgroup of the socket alone decides.
TEST_F(LocalCallersTest, WhoIsNotFoundIsOfTheHostOnlyWhereProcessesAreHidden) {
  const net::SocketOwner kubelet{
      .uid = 0, .inode = 100, .cgroup = id_of("system.slice/kubelet.service")};
  const net::SocketOwner pod{.uid = 0, .inode = 101, .cgroup = id_of("kubepods/pod1")};
  const net::SocketOwner nowhere{.uid = 0, .inode = 102, .cgroup = 999'999'999};
  for (const bool sees_all : {false, true}) {
    SCOPED_TRACE(sees_all);
    if (sees_all) add(1, "systemd", 99, "/init.scope");
    LocalCallers classifier = callers();
    EXPECT_EQ(acts(classifier, kubelet), !sees_all);
    EXPECT_FALSE(acts(classifier, pod));
    EXPECT_FALSE(acts(classifier, nowhere));
  }
}

// A socket's cookie and its inode are different numbers.
TEST_F(LocalCallersTest, ACookieIsNoInode) {
  add(1, "systemd", 99, "/init.scope");
  add(10, "kubelet", 100, "/system.slice/kubelet.service");
  add(11, "containerd", 101, "/system.slice/containerd.service");
  LocalCallers classifier = callers();
  EXPECT_TRUE(acts(classifier, {.uid = 0, .inode = 100, .cookie = 101}));
  EXPECT_FALSE(acts(classifier, {.uid = 0, .inode = 101}));
}

TEST_F(LocalCallersTest, ARelayThatFloodsKeepsNobodyElseOut) {
  add(1, "systemd", 99, "/init.scope");
  add(10, "kubelet", 100, "/system.slice/kubelet.service");
  add(11, "containerd", 101, "/system.slice/containerd.service");
  for (int i = 0; i < 500; ++i) {
    std::filesystem::create_symlink("socket:[" + std::to_string(1000 + i) + "]",
                                    proc() / "11" / "fd" / std::to_string(100 + i));
  }
  proc::HolderLimits limits;
  limits.each = {.burst = 2000, .per_second = 0};
  LocalCallers classifier = callers(limits);
  for (std::uint64_t inode = 1000; inode < 1500; ++inode) {
    EXPECT_FALSE(acts(classifier, {.uid = 0, .inode = inode, .cookie = inode}));
  }
  EXPECT_TRUE(acts(classifier, {.uid = 0, .inode = 100, .cookie = 100}));
}

// If the node itself runs in a container, its processes are in cgroups below that container.
TEST_F(LocalCallersTest, TheContainerThatTheNodeIsDoesNotCount) {
  add(1, "systemd", 99, "/docker/0a/init.scope");
  add(10, "kubelet", 100, "/docker/0a/kubelet.service");
  add(11, "sh", 101, "/docker/0a/kubelet/kubepods/pod1");
  add(12, "sh", 102, "/docker/0b");
  std::filesystem::create_directories(proc() / "self");
  std::ofstream(proc() / "self" / "cgroup") << "0::/docker/0a/holdfast.service\n";
  LocalCallers classifier = callers();
  EXPECT_TRUE(acts(classifier, {.uid = 0, .inode = 100, .cookie = 100}));
  EXPECT_FALSE(acts(classifier, {.uid = 0, .inode = 101, .cookie = 101}));
  EXPECT_FALSE(acts(classifier, {.uid = 0, .inode = 102, .cookie = 102}));
}

// --require-node-token: the secret decides instead of the uid and the process, and only on
// loopback.
TEST_F(LocalCallersTest, WithRequireNodeTokenOnlyTheTokenActsAsTheNode) {
  add(1, "systemd", 99, "/init.scope");
  add(10, "kubelet", 100, "/system.slice/kubelet.service");
  LocalCallers local = callers();
  Metrics metrics;
  const std::string token(40, 't');
  RequestGate gate(options_, local, token, metrics);
  const auto owner_at = [&gate](Listener listener, std::uint32_t uid, const std::string& sent) {
    http::Request request{.target = "/api/v1/pods"};
    request.peer.address = "127.0.0.1";
    request.peer.owner = net::SocketOwner{.uid = uid, .inode = 100, .cookie = 100};
    if (!sent.empty()) request.headers.set("Authorization", "Bearer " + sent);
    const auto caller = gate.identify_at(listener, request);
    return caller ? caller->owner : std::string(to_string(caller.error().code));
  };
  const std::string node(node_owner);
  for (const bool required : {false, true}) {
    SCOPED_TRACE(required);
    options_.require_node_token = required;
    for (const Listener plain : {Listener::proxy, Listener::admin}) {
      EXPECT_EQ(owner_at(plain, 0, ""), required ? "denied" : node);
      EXPECT_EQ(owner_at(plain, 0, token), node);
      EXPECT_EQ(owner_at(plain, 1000, token), node);
      EXPECT_EQ(owner_at(plain, 1000, ""), "denied");
      EXPECT_TRUE(owner_at(plain, 0, "another").starts_with("token:"));
    }
    EXPECT_EQ(owner_at(Listener::tls, 0, token), "denied");
    EXPECT_EQ(owner_at(Listener::admin_tls, 0, token), "denied");
  }
}

}  // namespace
}  // namespace holdfast::agent
