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
  pod,      // runs in a container, of a pod or another one
  relay,    // a program that passes on what others send
  unknown,  // it could not be found or read: nothing is proved
};

[[nodiscard]] std::string_view to_string(LocalProcess process);

// Whether a cgroup's path is that of a container. It is when it is inside the kubelet's hierarchy
// of pods, in either naming: "/kubepods/burstable/podUID/ID" (cgroupfs) or
// "/kubepods.slice/kubepods-burstable.slice/..." (systemd), also below a --cgroup-root
// ("/kubelet.slice/kubelet-kubepods.slice/..."); and when a part of it is named as the runtimes
// name the containers that they start elsewhere: "docker-ID.scope", "/docker/ID",
// "libpod-ID.scope", "cri-containerd-ID.scope", "crio-ID.scope", or by the 64 hexadecimal digits of
// an ID.
[[nodiscard]] bool is_container_cgroup(std::string_view path);

// The path up to the last part that names a container; "" when none does. An agent whose node is
// itself a container (kind, k3d) may see all of the node below such a part, its own.
[[nodiscard]] std::string_view container_of(std::string_view path);

// `path` as it is seen from inside `container`, if it is below it; otherwise as it is.
[[nodiscard]] std::string_view seen_from(std::string_view container, std::string_view path);

// Whether a program, by the base name of its executable, connects on behalf of others: container
// runtimes, their shims, and the tools that they forward ports with.
[[nodiscard]] bool is_relay(std::string_view program);

// Whether the kubelet sends this user agent on behalf of a pod: its probes and lifecycle hooks ask
// wherever the pod's author tells them to.
[[nodiscard]] bool is_kubelet_on_behalf_of_pod(std::string_view user_agent);

// What a process is, from the base name of its executable, the names that it was called by, and the
// paths of its cgroups in all hierarchies. `unknown` without an executable or a path.
//
// The names matter where one executable is many programs: containerd of k3s is the executable
// "k3s". A process can choose them, so they only ever count against it.
[[nodiscard]] LocalProcess judge_process(std::string_view program,
                                         std::span<const std::string> called,
                                         std::span<const std::string> cgroups);

}  // namespace holdfast::sync
