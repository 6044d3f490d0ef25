// The metrics of the scheduler: upstream's names, labels and buckets.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "platform/metrics.h"
#include "platform/time.h"
#include "sync/schedule/cluster_state.h"

namespace holdfast::agent {

class SchedulerMetrics {
 public:
  // `profile` is the scheduler's name.
  explicit SchedulerMetrics(std::string profile);

  // An attempt has ended; `result` is scheduled, unschedulable or error.
  void attempted(std::string_view result, Duration took);
  // The duration of filters and scores, without the binding.
  void searched(Duration took) { algorithm_.observe(seconds(took)); }
  // A pod was bound after `attempts` attempts, `waited` after it first became schedulable.
  void scheduled(int attempts, Duration waited);

  void tried_preemption() { preemptions_.add(); }
  // The number of pods that one preemption deletes.
  void victims(std::size_t count) { victims_.observe(static_cast<double>(count)); }
  // The deletions of one preemption have ended.
  void prepared(bool well, Duration took);

  // The metrics in Prometheus' text format.
  [[nodiscard]] std::string text(const sync::schedule::ClusterState& state);

 private:
  static double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
  }
  void read_queue(const sync::schedule::Queue& queue);

  std::string profile_;
  Metrics metrics_;
  Histogram algorithm_;
  Histogram attempts_;
  Counter preemptions_;
  Histogram victims_;
  std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> incoming_;  // as last read
  std::map<std::string, std::size_t> rejecting_;  // plugins that have a gauge
};

}  // namespace holdfast::agent
