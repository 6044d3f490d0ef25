#include "sync/identity/local_process.h"

#include <algorithm>
#include <array>

#include "platform/check.h"
#include "platform/text.h"

namespace holdfast::sync::identity {

namespace {

bool is_hexadecimal(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// Whether a part of a cgroup path is a container's name. systemd units other than scopes are not:
// "docker-prune.service" belongs to the host.
bool names_container(std::string_view part) {
  constexpr std::size_t id_size = 64;
  constexpr std::array<std::string_view, 4> prefixes{"cri-containerd-", "crio-", "docker-",
                                                     "libpod-"};
  constexpr std::array<std::string_view, 4> units{".service", ".slice", ".socket", ".mount"};
  const auto ends = [part](std::string_view suffix) { return part.ends_with(suffix); };
  if (std::any_of(units.begin(), units.end(), ends)) return false;
  const auto begins = [part](std::string_view prefix) { return part.starts_with(prefix); };
  if (std::any_of(prefixes.begin(), prefixes.end(), begins)) return true;
  constexpr std::string_view scope = ".scope";
  if (part.ends_with(scope)) part.remove_suffix(scope.size());
  return part.size() >= id_size && is_hexadecimal(part.substr(part.size() - id_size));
}

}  // namespace

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

bool is_container_cgroup(std::string_view path) {
  return path.find("kubepods") != path.npos || !container_of(path).empty();
}

std::string_view container_of(std::string_view path) {
  std::size_t end = 0;
  std::string_view above;
  for (std::size_t from = 1; from < path.size();) {
    const std::size_t to = std::min(path.find('/', from), path.size());
    const std::string_view part = path.substr(from, to - from);
    if (names_container(part) || above == "docker") end = to;
    above = part;
    from = to + 1;
  }
  return path.substr(0, end);
}

std::string_view seen_from(std::string_view container, std::string_view path) {
  if (container.empty() || !path.starts_with(container)) return path;
  const std::string_view rest = path.substr(container.size());
  if (rest.empty()) return "/";
  return rest.front() == '/' ? rest : path;
}

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

LocalProcess classify_process(std::string_view program, std::span<const std::string> called,
                              std::span<const std::string> cgroups) {
  if (std::any_of(cgroups.begin(), cgroups.end(), is_container_cgroup)) return LocalProcess::pod;
  if (program.empty() || cgroups.empty()) return LocalProcess::unknown;
  const bool relay = is_relay(program) || std::any_of(called.begin(), called.end(), is_relay);
  return relay ? LocalProcess::relay : LocalProcess::host;
}

}  // namespace holdfast::sync::identity
