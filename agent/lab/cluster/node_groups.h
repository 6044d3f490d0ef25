// The control groups (cgroups(7), version 1) of a node with a kubelet: all its processes are in
// them, those of its pods below "kubepods".

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::agent::lab::cluster {

// The text of /proc/mounts.
[[nodiscard]] std::string mounts_of_this_machine();
// Whether a machine with these mounts has control groups of version 1.
[[nodiscard]] bool has_groups_of_version_1(std::string_view mounts);

class NodeGroups {
 public:
  // Those of a node of this process; they need not exist.
  explicit NodeGroups(const std::string& node);

  // "holdfast-lab-PID-STARTED-NODE", in every hierarchy.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::vector<pid_t> processes() const;
  // Sends SIGKILL to all processes.
  void kill() const;
  // Removes the groups. Returns whether none is left: those with processes are.
  bool remove() const;
  // Whether a container of a pod has a process.
  [[nodiscard]] bool runs(const std::string& pod_uid, const std::string& container_id) const;

  // Kills and removes what is left of processes of this program that have crashed. Returns how many
  // nodes that were.
  static int remove_leftovers();

 private:
  struct Named {
    std::string name;
  };
  explicit NodeGroups(Named named) : name_(std::move(named.name)) {}
  std::string name_;
};

}  // namespace holdfast::agent::lab::cluster
