// What a Scheduler must know, from an API server's lists and watches into it: nodes, pods,
// namespaces, disruption budgets.
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
    std::function<void()> heard;                         // something came
    std::function<void(std::string_view kind)> skipped;  // an object that could not be read
    std::function<void()> refused = [] {};               // a list that did not fit into the memory
  };
  struct Ways {
    bool protobuf = false;  // what is asked for
    bool whole = false;     // all fields are kept, for extenders; then JSON is asked for
  };

  // All that is borrowed, and what the hooks refer to, outlives it.
  SchedulerFeeds(Scheduler& scheduler, ListWatchSource& source, CloudMemory& memory,
                 const Clock& clock, Random& random, Hooks hooks, Ways ways);

  // Lists and watches as `tasks`.
  void start(loop::Tasks& tasks);
  // Errors: unavailable, naming what was never received in full; exhausted, while a list does not
  // fit into the memory.
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
