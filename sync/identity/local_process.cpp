#include "sync/identity/local_process.h"

#include <algorithm>
#include <array>

#include "platform/check.h"
#include "platform/text.h"

namespace holdfast::sync {

std::string_view to_string(LocalProcess process) {
  switch (process) {
    case LocalProcess::host:
      return "host";
    case LocalProcess::pod:
      return "pod";
    case LocalProcess::relay:
      return "relay";
    case LocalProcess::unknown:
      return "unknown";
  }
  UNREACHABLE();
}

bool is_pod_cgroup(std::string_view path) { return path.find("kubepods") != path.npos; }

bool is_relay(std::string_view program) {
  constexpr std::array<std::string_view, 12> programs{
      "containerd", "crio",         "dockerd", "cri-dockerd", "conmon",      "conmonrs",
      "socat",      "docker-proxy", "nsenter", "podman",      "rootlesskit", "slirp4netns"};
  return program.starts_with("containerd-shim") ||
         std::find(programs.begin(), programs.end(), program) != programs.end();
}

bool is_kubelet_on_behalf_of_pod(std::string_view user_agent) {
  for (const std::string_view name : {"kube-probe", "kube-lifecycle"}) {
    if (equals_ignoring_case(user_agent.substr(0, name.size()), name)) return true;
  }
  return false;
}

LocalProcess judge_process(std::string_view program, std::span<const std::string> cgroups) {
  if (std::any_of(cgroups.begin(), cgroups.end(), is_pod_cgroup)) return LocalProcess::pod;
  if (program.empty() || cgroups.empty()) return LocalProcess::unknown;
  return is_relay(program) ? LocalProcess::relay : LocalProcess::host;
}

}  // namespace holdfast::sync
