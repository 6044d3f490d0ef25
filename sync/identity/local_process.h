// Classifies a local process: does it belong to the node itself, or does the node only run or serve
// it? Pure.
//
// A process on loopback with the right uid is treated as the node. Two kinds of processes have that
// uid but must not be: containers of pods (uid 0 without capabilities, in the host network), and
// programs that open connections on behalf of others, such as a container runtime that forwards a
// port into the host network.

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast::sync::identity {

enum class LocalProcess : std::uint8_t {
  host,     // a process of the node itself
  pod,      // runs in a container, whether of a pod or not
  relay,    // a program that connects on behalf of others
  unknown,  // not found or not readable, so nothing is known about it
};

[[nodiscard]] std::string_view to_string(LocalProcess process);

// Whether a cgroup path is that of a container. This is so in the kubelet's hierarchy of pods, in
// either naming: "/kubepods/burstable/podUID/ID" (cgroupfs) or
// "/kubepods.slice/kubepods-burstable.slice/..." (systemd), also below a --cgroup-root
// ("/kubelet.slice/kubelet-kubepods.slice/..."). It is also so if a part of the path has a
// container runtime's name for a container: "docker-ID.scope", "/docker/ID", "libpod-ID.scope",
// "cri-containerd-ID.scope", "crio-ID.scope", or the 64 hexadecimal digits of an ID.
[[nodiscard]] bool is_container_cgroup(std::string_view path);

// The path up to the last part that names a container; "" if none does. If the node itself is a
// container (kind, k3d), the agent may see the whole node below such a part.
[[nodiscard]] std::string_view container_of(std::string_view path);

// `path` relative to `container` if it is below it; otherwise `path` unchanged.
[[nodiscard]] std::string_view seen_from(std::string_view container, std::string_view path);

// Whether a program, given by the base name of its executable, connects on behalf of others:
// container runtimes, their shims and their port forwarding tools.
[[nodiscard]] bool is_relay(std::string_view program);

// Whether the kubelet sends this user agent on behalf of a pod. Its probes and lifecycle hooks send
// requests to any address that the pod's author wrote.
[[nodiscard]] bool is_kubelet_on_behalf_of_pod(std::string_view user_agent);

// Classifies a process from the base name of its executable, the names it was called by, and its
// cgroup paths in all hierarchies. Returns `unknown` without an executable or a path.
//
// The names matter because one executable may be many programs: the containerd of k3s runs the
// executable "k3s". A process can choose these names, so they can only make it a relay, never the
// host.
[[nodiscard]] LocalProcess classify_process(std::string_view program,
                                            std::span<const std::string> called,
                                            std::span<const std::string> cgroups);

}  // namespace holdfast::sync::identity
