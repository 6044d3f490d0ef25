// Feeds a Scheduler from an API server's lists and watches of nodes, pods, namespaces and
// PodDisruptionBudgets.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <string_view>

#include "agent/cloud/feed.h"
#include "agent/cloud/scheduler/scheduler.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent {

class SchedulerFeeds {
 public:
  struct Hooks {
    std::function<void()> heard;  // a list, a watch event or a bookmark arrived
    std::function<void(std::string_view kind)> skipped;  // an object could not be decoded
    std::function<void()> refused = [] {};               // a list exceeded the memory limit
  };
  struct Ways {
    bool protobuf = false;  // request nodes and pods as protobuf
    bool whole = false;     // keep all fields, for extenders; then JSON is requested
  };

  // All references are borrowed; they and everything the hooks refer to outlive it.
  SchedulerFeeds(Scheduler& scheduler, ListWatchSource& source, CloudMemory& memory,
                 const Clock& clock, Random& random, Hooks hooks, Ways ways);

  // Spawns the list-watches in `tasks`.
  void start(loop::Tasks& tasks);
  // Whether every list was received completely at least once. Errors: unavailable, naming the
  // missing lists; exhausted while a list exceeds the memory limit.
  [[nodiscard]] Status complete() const;

 private:
  void watch(loop::Tasks& tasks, std::string path, ListWatchSink& sink, bool plenty);

  ListWatchSource& source_;
  CloudMemory& memory_;
  const Clock& clock_;
  Random& random_;
  Ways ways_;
  Feed<sync::Node> nodes_;
  Feed<sync::Pod> pods_;
  Feed<sync::Namespace> namespaces_;
  Feed<sync::PodDisruptionBudget> budgets_;
};

}  // namespace holdfast::agent
