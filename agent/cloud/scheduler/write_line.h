// A FIFO queue of writes that runs a limited number of them at a time.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <limits>

#include "platform/loop/tasks.h"

namespace holdfast::agent {

namespace asio = boost::asio;

class WriteLine {
 public:
  static constexpr std::size_t endless = std::numeric_limits<std::size_t>::max();

  // At most `at_once` writes run and `waiting` wait; more are dropped.
  WriteLine(asio::any_io_executor executor, std::size_t at_once, std::size_t waiting = endless)
      : at_once_(at_once), waiting_most_(waiting), tasks_(std::move(executor)) {}

  // Queues a write. Everything it refers to outlives stop(). Returns false if it was dropped.
  bool add(asio::awaitable<void> write);

  // Drops the waiting writes, waits for those under way, and cancels them at `deadline`.
  asio::awaitable<void> stop(MonoTime deadline);

  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] std::size_t under_way() const { return under_way_; }

 private:
  void pump();
  asio::awaitable<void> run(asio::awaitable<void> write);

  std::size_t at_once_;
  std::size_t waiting_most_;
  std::deque<asio::awaitable<void>> waiting_;
  std::size_t under_way_ = 0;
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent
