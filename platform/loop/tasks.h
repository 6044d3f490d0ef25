// The one place where coroutines are spawned: a group that can be cancelled and waited for.
//
// A cancelled task leaves by an exception at its current or next await; its destructors run. Any
// other exception that reaches the root of a task is logged as a bug and ends that task alone.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "platform/time.h"

namespace holdfast::loop {

namespace asio = boost::asio;

class Tasks {
 public:
  explicit Tasks(asio::any_io_executor executor);
  // Cancels what still runs; whoever owns what the tasks refer to joins first.
  ~Tasks();
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  // Starts `task`, which must own what it uses or refer to what outlives join(). `name` is for the
  // log. After cancel() new tasks are dropped unstarted.
  void spawn(std::string name, asio::awaitable<void> task);

  void cancel();

  // Leaves those that run to themselves: they own what they use and were told to end otherwise.
  void let_go() { let_go_ = true; }

  // Waits until every task has ended.
  asio::awaitable<void> join();
  // The same until `deadline`; false if some still run.
  asio::awaitable<bool> join_until(MonoTime deadline);

  [[nodiscard]] std::size_t size() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
  bool let_go_ = false;
};

}  // namespace holdfast::loop
