// Cgroups as a kubelet makes them for pods, in whatever hierarchies this machine has.

#pragma once

#include <string>
#include <vector>

namespace holdfast::attack {

// The cgroup of one container, removed at the end; processes in it must have ended by then.
class PodCgroup {
 public:
  // `path` from the root of a hierarchy: "kubepods/burstable/podUID/ID".
  explicit PodCgroup(std::string path);
  ~PodCgroup();
  PodCgroup(const PodCgroup&) = delete;
  PodCgroup& operator=(const PodCgroup&) = delete;

  // What As::cgroup takes: its folders, each on a line. Empty: none could be made; why() tells.
  [[nodiscard]] std::string folders() const;
  [[nodiscard]] std::string why() const { return why_; }

 private:
  std::string path_;
  std::vector<std::string> made_;  // every folder that was made, parents first
  std::vector<std::string> leaves_;
  std::string why_;
};

// Moves this process to each of the folders; whether it could.
[[nodiscard]] bool join_cgroups(const std::string& folders);

}  // namespace holdfast::attack
