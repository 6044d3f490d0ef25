// Creates cgroups like those that a kubelet makes for pods, in every cgroup hierarchy of this
// machine.

#pragma once

#include <string>
#include <vector>

namespace holdfast::attack {

// The cgroup of one container, removed at the end; processes in it must have ended by then.
// The cgroup of one container. The destructor removes it; the processes in it must have ended by
// then.
class PodCgroup {
 public:
  // `path` starts at the root of a hierarchy: "kubepods/burstable/podUID/ID".
  explicit PodCgroup(std::string path);
  ~PodCgroup();
  PodCgroup(const PodCgroup&) = delete;
  PodCgroup& operator=(const PodCgroup&) = delete;

  // The value for RunAs::cgroup: the folders of the cgroup, one per line. Empty if none could be
  // created; why() returns the reason.
  [[nodiscard]] std::string folders() const;
  [[nodiscard]] std::string why() const { return why_; }

 private:
  std::string path_;
  std::vector<std::string> made_;  // every folder that was created, parents first
  std::vector<std::string> leaves_;
  std::string why_;
};

// Moves this process to each of the folders. Returns whether that worked.
[[nodiscard]] bool join_cgroups(const std::string& folders);

}  // namespace holdfast::attack
