// What a local process is to the node: part of it, or somebody that the node runs or serves.
//
// A process on loopback with the right uid acts as the node. Two kinds of processes have that uid
// and must not: containers of pods (uid 0 without capabilities, in the host's network), and
// programs that open connections on behalf of others, such as a container runtime that forwards a
// port into the host's network.

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast::sync {

enum class LocalProcess : std::uint8_t {
  host,     // a process of the node itself
  pod,      // runs in a pod's cgroup
  relay,    // a program that passes on what others send
  unknown,  // it could not be found or read: nothing is proved
};

[[nodiscard]] std::string_view to_string(LocalProcess process);

// Whether a cgroup's path is inside the kubelet's hierarchy of pods, in either naming:
// "/kubepods/burstable/podUID/ID" (cgroupfs) or "/kubepods.slice/kubepods-burstable.slice/..."
// (systemd), also below a --cgroup-root ("/kubelet.slice/kubelet-kubepods.slice/...").
[[nodiscard]] bool is_pod_cgroup(std::string_view path);

// Whether a program, by the base name of its executable, connects on behalf of others: container
// runtimes, their shims, and the tools that they forward ports with.
[[nodiscard]] bool is_relay(std::string_view program);

// Whether the kubelet sends this user agent on behalf of a pod: its probes and lifecycle hooks ask
// wherever the pod's author tells them to.
[[nodiscard]] bool is_kubelet_on_behalf_of_pod(std::string_view user_agent);

// What a process is, from the base name of its executable and the paths of its cgroups in all
// hierarchies. `unknown` without any path.
[[nodiscard]] LocalProcess judge_process(std::string_view program,
                                         std::span<const std::string> cgroups);

}  // namespace holdfast::sync
