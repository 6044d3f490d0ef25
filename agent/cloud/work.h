// The writes that wait: most urgent first, a few at a time, never two at once for one object.
//
// Threading: the loop's thread only.

#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

#include "agent/cloud/writer.h"
#include "platform/loop/tasks.h"
#include "sync/lifecycle/actions.h"

namespace holdfast::agent {

struct WorkLimits {
  std::size_t at_once = 32;   // writes under way
  std::size_t events = 1000;  // waiting; more are dropped, as upstream
};

class Work {
 public:
  using Settled =
      std::function<void(const sync::lifecycle::Action&, const sync::lifecycle::Outcome&)>;

  // `writer` and what `settled` refers to outlive it.
  Work(asio::any_io_executor executor, ClusterWriter& writer, Settled settled, WorkLimits limits);

  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void add(sync::lifecycle::Actions actions);

  // Drops what waits; waits for what is under way, and cuts it off at `deadline`.
  asio::awaitable<void> stop(MonoTime deadline);

  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] std::size_t under_way() const { return slots_->under_way; }
  [[nodiscard]] std::size_t events_dropped() const { return events_dropped_; }

 private:
  static constexpr std::size_t urgencies = 6;

  // What is under way. Shared with the writes, for a task that was cancelled may end after the
  // Work.
  struct Slots {
    std::unordered_set<std::string> objects = {};  // that are being written
    std::size_t under_way = 0;
    Work* work = nullptr;  // null once it is gone
  };
  class Slot;

  void pump();
  bool take(sync::lifecycle::Action& action);
  // `slots` are those of this Work, which may be gone when the task begins.
  asio::awaitable<void> perform(std::shared_ptr<Slots> slots, sync::lifecycle::Action action);

  ClusterWriter& writer_;
  Settled settled_;
  WorkLimits limits_;
  std::array<std::deque<sync::lifecycle::Action>, urgencies> queues_;
  std::shared_ptr<Slots> slots_ = std::make_shared<Slots>();
  std::size_t events_dropped_ = 0;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent
