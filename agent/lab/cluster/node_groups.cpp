#include "agent/lab/cluster/node_groups.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "platform/fs/file.h"
#include "platform/proc/identity.h"
#include "platform/text.h"

namespace holdfast::agent::lab::cluster {
namespace {

using Path = std::filesystem::path;

constexpr std::size_t group_bytes_max = 1 << 20;
constexpr std::string_view prefix_of_all = "holdfast-lab-";

struct Hierarchy {
  Path folder;
  bool is_version_1 = false;
};

std::vector<Hierarchy> hierarchies_of(std::string_view mounts) {
  std::vector<Hierarchy> found;
  for (const std::string_view line : split(mounts, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 3 || !words[2].starts_with("cgroup")) continue;
    found.push_back({Path(words[1]), words[2] == "cgroup"});
  }
  return found;
}

std::vector<Hierarchy> all_hierarchies() { return hierarchies_of(mounts_of_this_machine()); }

// The group and all below it, the deepest first.
std::vector<Path> with_inner(const Path& group) {
  std::vector<Path> all;
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator(group, ec)) {
    if (!entry.is_directory(ec)) continue;
    const auto inner = with_inner(entry.path());
    all.insert(all.end(), inner.begin(), inner.end());
  }
  if (std::filesystem::exists(group, ec)) all.push_back(group);
  return all;
}

std::string processes_text(const Path& group) {
  return fs::read_all(group / "cgroup.procs", group_bytes_max).value_or("");
}

std::string own_prefix() {
  const auto self = proc::identify(getpid());
  const std::uint64_t started = self ? self->start_ticks : 0;
  return std::string(prefix_of_all) + std::to_string(getpid()) + "-" + std::to_string(started) +
         "-";
}

// Whether the program that made the group still runs.
bool has_owner(std::string_view name) {
  const auto words = split(name.substr(prefix_of_all.size()), '-');
  if (words.size() < 3) return true;  // it is not ours
  const auto pid = parse_int<pid_t>(words[0]);
  const auto started = parse_int<std::uint64_t>(words[1]);
  if (!pid || !started) return true;
  const auto now = proc::identify(*pid);
  return now && now->start_ticks == *started;
}

}  // namespace

std::string mounts_of_this_machine() {
  return fs::read_all("/proc/mounts", group_bytes_max).value_or("");
}

bool has_groups_of_version_1(std::string_view mounts) {
  const auto all = hierarchies_of(mounts);
  return std::any_of(all.begin(), all.end(),
                     [](const Hierarchy& each) { return each.is_version_1; });
}

NodeGroups::NodeGroups(const std::string& node) : name_(own_prefix() + node) {}

std::vector<pid_t> NodeGroups::processes() const {
  std::set<pid_t> pids;
  for (const Hierarchy& hierarchy : all_hierarchies()) {
    for (const Path& group : with_inner(hierarchy.folder / name_)) {
      const std::string text = processes_text(group);
      for (const std::string_view line : split(text, '\n')) {
        if (const auto pid = parse_int<pid_t>(line); pid && *pid > 0) pids.insert(*pid);
      }
    }
  }
  return {pids.begin(), pids.end()};
}

void NodeGroups::kill() const {
  for (const pid_t pid : processes()) {
    const auto identity = proc::identify(pid);
    if (identity) (void)proc::signal_process(*identity, SIGKILL);
  }
}

bool NodeGroups::remove() const {
  bool is_gone = true;
  for (const Hierarchy& hierarchy : all_hierarchies()) {
    for (const Path& group : with_inner(hierarchy.folder / name_)) {
      is_gone = rmdir(group.c_str()) == 0 && is_gone;
    }
  }
  return is_gone;
}

bool NodeGroups::runs(const std::string& pod_uid, const std::string& container_id) const {
  for (const Hierarchy& hierarchy : all_hierarchies()) {
    if (!hierarchy.is_version_1) continue;
    // The quality of service is not needed: a uid is in one of them only.
    for (const char* quality : {"besteffort", "burstable", "."}) {
      const Path group =
          hierarchy.folder / name_ / "kubepods" / quality / ("pod" + pod_uid) / container_id;
      if (!processes_text(group).empty()) return true;
    }
    return false;  // every hierarchy has all groups
  }
  return false;
}

int NodeGroups::remove_leftovers() {
  std::set<std::string> names;
  for (const Hierarchy& hierarchy : all_hierarchies()) {
    for (const std::string& name :
         fs::list_dir(hierarchy.folder).value_or(std::vector<std::string>())) {
      if (name.starts_with(prefix_of_all) && !has_owner(name)) names.insert(name);
    }
  }
  for (const std::string& name : names) {
    const NodeGroups groups(Named{name});
    groups.kill();
    (void)groups.remove();  // what is about to end is removed by the next one
  }
  return static_cast<int>(names.size());
}

}  // namespace holdfast::agent::lab::cluster
