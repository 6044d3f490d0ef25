// Which local processes belong to the node itself.

#include "sync/identity/local_process.h"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::sync::identity {
namespace {

TEST(LocalProcess, IsJudgedByItsCgroupsFirstAndItsProgramThen) {
  struct Case {
    const char* program;
    std::vector<std::string> cgroups;
    LocalProcess process;
  };
  using enum LocalProcess;
  const Case cases[] = {
      {"kubelet", {"/system.slice/kubelet.service"}, host},
      {"kubectl", {"/user.slice/user-0.slice/session-1.scope"}, host},
      {"kubelet", {"/"}, host},
      {"sh", {"/kubepods/besteffort/pod1b2c/0123"}, pod},
      {"sh", {"/kubepods/pod1b2c/0123"}, pod},
      {"sh", {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice"}, pod},
      {"sh", {"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod1.slice/a"}, pod},
      {"sh", {"/docker/0a/kubelet/kubepods/pod1/0"}, pod},
      {"sh", {"/", "/", "/kubepods/pod1/0"}, pod},
      {"kubelet", {"/kubepods/pod1/0"}, pod},
      {"containerd", {"/kubepods/pod1/0"}, pod},
      {"containerd", {"/system.slice/containerd.service"}, relay},
      {"containerd-shim-runc-v2", {"/system.slice/containerd.service"}, relay},
      {"crio", {"/system.slice/crio.service"}, relay},
      {"socat", {"/system.slice/docker.service"}, relay},
      {"containerds", {"/"}, host},
      {"", {"/"}, unknown},
      {"kubelet", {}, unknown},
      {"", {"/kubepods/pod1/0"}, pod},
  };
  for (const Case& c : cases) {
    const std::string where = c.cgroups.empty() ? "nowhere" : c.cgroups.back();
    EXPECT_EQ(classify_process(c.program, {}, c.cgroups), c.process)
        << c.program << " in " << where;
  }
}

TEST(LocalProcess, WhateverItIsCalledCountsAgainstIt) {
  struct Case {
    const char* program;
    std::vector<std::string> called;
    LocalProcess process;
  };
  using enum LocalProcess;
  const std::vector<std::string> cgroups = {"/system.slice/k3s.service"};
  const Case cases[] = {
      {"k3s", {"k3s", "k3s-server"}, host},
      {"k3s", {"containerd", "containerd"}, relay},
      {"k3s", {"", "containerd"}, relay},
      {"k3s", {"containerd", "k3s"}, relay},
      {"containerd", {"kubelet", "kubelet"}, relay},
      {"busybox", {"nsenter"}, relay},
      {"kubelet", {}, host},
      {"", {"kubelet", "kubelet"}, unknown},
  };
  for (const Case& c : cases) {
    const std::string name = c.called.empty() ? "" : c.called.back();
    EXPECT_EQ(classify_process(c.program, c.called, cgroups), c.process)
        << c.program << " " << name;
  }
}

TEST(LocalProcess, ContainersOutsideThePodsHierarchyAreKnownByTheirNames) {
  const std::string id(64, 'a');
  const struct {
    std::string path;
    std::string container;  // "": no container
  } rows[] = {
      {"/system.slice/docker-" + id + ".scope", "/system.slice/docker-" + id + ".scope"},
      {"/docker/" + id, "/docker/" + id},
      {"/docker/0a/init", "/docker/0a"},
      {"/docker/" + id + "/docker/0b", "/docker/" + id + "/docker/0b"},
      {"/machine.slice/libpod-" + id + ".scope/container",
       "/machine.slice/libpod-" + id + ".scope"},
      {"/libpod_parent/libpod-" + id, "/libpod_parent/libpod-" + id},
      {"/system.slice/cri-containerd-" + id + ".scope",
       "/system.slice/cri-containerd-" + id + ".scope"},
      {"/system.slice/crio-" + id + ".scope", "/system.slice/crio-" + id + ".scope"},
      {"/system.slice:cri-containerd:" + id, "/system.slice:cri-containerd:" + id},
      {"/k8s.io/" + id, "/k8s.io/" + id},
      {"/system.slice/nerdctl-" + id + ".scope", "/system.slice/nerdctl-" + id + ".scope"},
      {"/", ""},
      {"", ""},
      {"/docker", ""},
      {"/system.slice/docker.service", ""},
      {"/system.slice/docker-prune.service", ""},
      {"/system.slice/crio-wipe.service", ""},
      {"/system.slice/containerd.service", ""},
      {"/user.slice/user-0.slice/session-1.scope", ""},
      {"/process_api/" + id.substr(0, 32), ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(container_of(row.path), row.container);
    EXPECT_EQ(is_container_cgroup(row.path), !row.container.empty()) << row.path;
  }
}

TEST(LocalProcess, ANodeThatIsAContainerIsSeenFromInside) {
  EXPECT_EQ(seen_from("", "/docker/0a"), "/docker/0a");
  EXPECT_EQ(seen_from("/docker/0a", "/docker/0a"), "/");
  EXPECT_EQ(seen_from("/docker/0a", "/docker/0a/kubelet.service"), "/kubelet.service");
  EXPECT_EQ(seen_from("/docker/0a", "/docker/0a/docker/0b"), "/docker/0b");
  EXPECT_EQ(seen_from("/docker/0a", "/docker/0ab/init"), "/docker/0ab/init");
}

TEST(LocalProcess, TheKubeletAsksOnBehalfOfPodsUnderNamesOfItsOwn) {
  EXPECT_TRUE(is_kubelet_on_behalf_of_pod("kube-probe/1.36"));
  EXPECT_TRUE(is_kubelet_on_behalf_of_pod("kube-lifecycle/1.36"));
  EXPECT_TRUE(is_kubelet_on_behalf_of_pod("Kube-Probe/1.36+"));
  EXPECT_FALSE(is_kubelet_on_behalf_of_pod("kubelet/v1.36.2 (linux/amd64) kubernetes/abc"));
  EXPECT_FALSE(is_kubelet_on_behalf_of_pod(""));
}

}  // namespace
}  // namespace holdfast::sync::identity
