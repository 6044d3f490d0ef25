// Which local processes belong to the node.

#include "sync/identity/local_process.h"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::sync {
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
    EXPECT_EQ(judge_process(c.program, c.cgroups), c.process) << c.program << " in " << where;
  }
}

TEST(LocalProcess, TheKubeletAsksOnBehalfOfPodsUnderNamesOfItsOwn) {
  EXPECT_TRUE(is_kubelet_on_behalf_of_pod("kube-probe/1.36"));
  EXPECT_TRUE(is_kubelet_on_behalf_of_pod("kube-lifecycle/1.36"));
  EXPECT_TRUE(is_kubelet_on_behalf_of_pod("Kube-Probe/1.36+"));
  EXPECT_FALSE(is_kubelet_on_behalf_of_pod("kubelet/v1.36.2 (linux/amd64) kubernetes/abc"));
  EXPECT_FALSE(is_kubelet_on_behalf_of_pod(""));
}

}  // namespace
}  // namespace holdfast::sync
