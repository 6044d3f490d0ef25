// A condition that coroutines of one loop wait for: it wakes them to check their state again.
//
// An Event stores no state. Use it as `while (!ready) co_await event.wait();`. This cannot miss a
// notification, because nothing else runs between the test and the wait. Threading: the loop's
// thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <list>

#include "platform/loop/timer.h"

namespace holdfast::loop {

class Event {
 public:
  explicit Event(asio::any_io_executor executor) : executor_(std::move(executor)) {}
  ~Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Wakes all coroutines that are waiting now.
  void notify_all();

  // Returns true after notify_all(), false at `deadline`. The Event must outlive the wait.
  asio::awaitable<bool> wait_until(MonoTime deadline);
  asio::awaitable<void> wait();

 private:
  struct Waiter {
    Timer timer;
    bool notified = false;
  };

  asio::any_io_executor executor_;
  std::list<Waiter*> waiters_;
};

}  // namespace holdfast::loop
