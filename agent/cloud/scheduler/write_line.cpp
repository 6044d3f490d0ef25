#include "agent/cloud/scheduler/write_line.h"

namespace holdfast::agent {

bool WriteLine::add(asio::awaitable<void> write) {
  if (waiting_.size() >= waiting_most_) return false;
  waiting_.push_back(std::move(write));
  pump();
  return true;
}

void WriteLine::pump() {
  while (under_way_ < at_once_ && !waiting_.empty()) {
    asio::awaitable<void> next = std::move(waiting_.front());
    waiting_.pop_front();
    ++under_way_;
    tasks_.spawn("write", run(std::move(next)));
  }
}

asio::awaitable<void> WriteLine::run(asio::awaitable<void> write) {
  co_await std::move(write);
  --under_way_;
  pump();
}

asio::awaitable<void> WriteLine::stop(MonoTime deadline) {
  waiting_.clear();
  // A write that ends must not start another one.
  at_once_ = 0;
  const bool ended = co_await tasks_.join_until(deadline);
  if (ended) co_return;
  tasks_.cancel();
  co_await tasks_.join();
}

}  // namespace holdfast::agent
