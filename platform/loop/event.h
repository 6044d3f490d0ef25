// Lets coroutines of one loop wait for each other: "something changed, look again".
//
// An Event remembers nothing. The usual form is `while (!ready) co_await event.wait();`, which
// cannot miss a change, because nothing else runs between the test and the wait.

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

  // Wakes everyone who is waiting now.
  void notify_all();

  // Returns true after notify_all(), false once `deadline` has come. The Event must outlive it.
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
