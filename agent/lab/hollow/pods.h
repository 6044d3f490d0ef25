// Decides what hollow nodes do with the pods that are bound to them: report them Running and Ready
// after a start time, report the pods of Jobs Succeeded after a run time, and confirm deletions
// after a stop time. Pure: the owner passes in what it observes and performs the steps.
//
// Pods are identified by "namespace/name".

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/lab/hollow/plan.h"
#include "sync/model/pod.h"
#include "sync/pacing/due_queue.h"

namespace holdfast::agent::hollow {

struct PodContainer {
  enum class Kind : std::uint8_t { main, init, sidecar };

  Kind kind = Kind::main;
  std::string name;
  std::string image;
};

enum class PodStep : std::uint8_t { start, finish, remove };

struct HollowPod {
  enum class Phase : std::uint8_t { pending, unready, running, ended };

  NodeId node = 0;
  std::string uid;
  std::vector<PodContainer> containers;
  Phase phase = Phase::pending;
  bool runs_to_end = false;  // restartPolicy Never or OnFailure
  bool deleting = false;
  bool removed = false;  // the deletion was confirmed; finalizers may still keep the object
  bool busy = false;     // a step is being performed
  std::uint32_t address = 0;
  Duration stop{};
  WallTime started{};
  std::optional<PodStep> wanted = {};
};

struct PodWork {
  std::string key;
  PodStep step;
};

class Pods {
 public:
  // `plan` outlives it.
  explicit Pods(const Plan& plan) : plan_(plan) {}

  // A pod of `node` was listed or changed.
  void set(const sync::Pod& pod, NodeId node, MonoTime now);
  // A pod is gone, or is not bound to a hollow node.
  void remove(const std::string& key) { pods_.erase(key); }

  // The next step that is due. It counts as being performed until done() or failed(). Steps of
  // pods on silent nodes are kept until resume().
  [[nodiscard]] std::optional<PodWork> next(MonoTime now,
                                            const std::function<bool(NodeId)>& is_silent);
  [[nodiscard]] MonoTime next_due() const { return due_.next(); }
  void resume(NodeId node, MonoTime now);

  void done(const PodWork& work, const std::string& uid, MonoTime now);
  // The step is tried again after a pause.
  void failed(const PodWork& work, const std::string& uid, MonoTime now);

  // Null if there is no such pod. Valid until the next change.
  [[nodiscard]] HollowPod* find(const std::string& key);
  [[nodiscard]] const std::unordered_map<std::string, HollowPod>& all() const { return pods_; }

 private:
  void schedule(const std::string& key, HollowPod& pod, MonoTime now);
  [[nodiscard]] Duration delay(const HollowPod& pod) const;

  const Plan& plan_;
  std::unordered_map<std::string, HollowPod> pods_;
  sync::pacing::DueQueue<char> due_;
  std::unordered_map<NodeId, std::vector<std::string>> parked_;  // due on a silent node
  std::uint32_t addresses_ = 0;
};

}  // namespace holdfast::agent::hollow
