// Records observations: adds them with their time to the history and to the current snapshot,
// and notifies changed().

#pragma once

#include "agent/lab/demo/cluster_snapshot.h"
#include "agent/lab/demo/history.h"
#include "platform/loop/event.h"

namespace holdfast::agent::demo {

class Recorder {
 public:
  explicit Recorder(boost::asio::any_io_executor executor)
      : clock_(loop::clock_of(executor)), began_(clock_.mono()), changed_(std::move(executor)) {}

  [[nodiscard]] const Clock& clock() const { return clock_; }
  // The time since the demo began.
  [[nodiscard]] DemoTime now() const { return clock_.mono() - began_; }

  // Records an observation with the current time. One that changes nothing is not kept.
  void note(LinkSeen seen) { keep(history_.links, std::move(seen)); }
  void note(NodeSeen seen) { keep(history_.nodes, std::move(seen)); }
  void note(PodSeen seen) { keep(history_.pods, std::move(seen)); }
  void note(ReplicasSeen seen) { keep(history_.replicas, seen); }
  void note(Mark mark) {
    mark.at = now();
    history_.marks.push_back(std::move(mark));
    changed_.notify_all();
  }

  // Records a complete list of pods. Known pods that are not in it are gone.
  void record_pods(const std::vector<PodSeen>& pods);
  // Records the processes of a node that are alive now.
  void record_processes(const std::string& node, const std::vector<ProcessSeen>& alive);

  [[nodiscard]] History& history() { return history_; }
  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] const ClusterSnapshot& snapshot() const { return snapshot_; }
  [[nodiscard]] loop::Event& changed() { return changed_; }

 private:
  template <class T>
  void keep(std::vector<T>& kept, T seen) {
    seen.at = now();
    if (!snapshot_.take(seen)) return;
    kept.push_back(std::move(seen));
    changed_.notify_all();
  }

  const Clock& clock_;
  MonoTime began_;
  History history_;
  ClusterSnapshot snapshot_;
  loop::Event changed_;
};

}  // namespace holdfast::agent::demo
