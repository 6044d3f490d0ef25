// The queue of writes to the API server: the most urgent ones first, a limited number at a time,
// and never two at once for the same node or pod.
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
  std::size_t at_once = 32;   // writes under way at one time
  std::size_t events = 1000;  // waiting events; more are dropped, as upstream
};

class Work {
 public:
  // Called after each write with its outcome.
  using Settled =
      std::function<void(const sync::lifecycle::Action&, const sync::lifecycle::Outcome&)>;

  // `writer` and everything that `settled` refers to outlive it.
  Work(asio::any_io_executor executor, ClusterWriter& writer, Settled settled, WorkLimits limits);

  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // Queues the actions and starts as many writes as the limits allow.
  void add(sync::lifecycle::Actions actions);

  // Drops the waiting writes, waits for those under way, and cancels them at `deadline`.
  asio::awaitable<void> stop(MonoTime deadline);

  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] std::size_t under_way() const { return slots_->under_way; }
  [[nodiscard]] std::size_t events_dropped() const { return events_dropped_; }

 private:
  static constexpr std::size_t urgencies = 6;

  // The writes under way. Shared with their tasks, because a cancelled task may end after the Work.
  struct Slots {
    std::unordered_set<std::string> objects = {};  // keys of the nodes and pods being written
    std::size_t under_way = 0;
    Work* work = nullptr;  // null once it is gone
  };
  class Slot;

  void pump();
  bool take(sync::lifecycle::Action& action);
  // `slots` belong to this Work, which may be destroyed before the task begins.
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
