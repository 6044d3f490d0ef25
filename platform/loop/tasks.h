// A group of coroutines that can be cancelled and joined. All coroutines are spawned through it.
//
// A cancelled task leaves by an exception, and its destructors run; see cancellation.h. Any other
// exception that leaves a task is logged as a bug and ends only that task. Threading: the
// loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "platform/time.h"

namespace holdfast::loop {

namespace asio = boost::asio;

class Tasks {
 public:
  explicit Tasks(asio::any_io_executor executor);
  // Cancels the running tasks, unless detach() was called. It does not wait: call join() first if
  // the tasks refer to objects that end with this one.
  ~Tasks();
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  // Starts `task`. It must own what it uses, or refer only to objects that outlive join(). `name`
  // is for the log. After cancel(), new tasks are dropped without being started.
  void spawn(std::string name, asio::awaitable<void> task);

  void cancel();

  // The destructor will not cancel the tasks: they own what they use and are told to end in another
  // way.
  void detach() { detached_ = true; }

  // Waits until every task has ended.
  asio::awaitable<void> join();
  // Like join(), but only until `deadline`; returns false if tasks are still running.
  asio::awaitable<bool> join_until(MonoTime deadline);

  [[nodiscard]] std::size_t size() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
  bool detached_ = false;
};

// The names of the tasks that run on `loop`, one group after the other. For messages about a loop
// that makes no progress. Threading: the loop's thread only.
[[nodiscard]] std::vector<std::string> running_tasks(asio::execution_context& loop);

}  // namespace holdfast::loop
