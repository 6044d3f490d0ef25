// A performer that only records its effects. Each one ends at once with the outcome that the test
// chooses, or is held until release().

#pragma once

#include <list>
#include <stdexcept>
#include <string>
#include <vector>

#include "agent/cloud/lifecycle_runner.h"
#include "platform/loop/event.h"

namespace holdfast::agent {

class FakePerformer final : public LifecyclePerformer {
 public:
  explicit FakePerformer(asio::any_io_executor executor) : changed_(std::move(executor)) {}

  // A deadline for stop() that no test reaches.
  static MonoTime soon() { return MonoTime::max(); }

  // Effects do not end until release().
  void hold() { holding_ = true; }
  void release() {
    holding_ = false;
    changed_.notify_all();
  }

  asio::awaitable<sync::lifecycle::Outcome> perform(sync::lifecycle::Effect effect) override {
    asked.push_back(std::move(effect));
    changed_.notify_all();
    while (holding_) co_await changed_.wait();
    ++answered;
    changed_.notify_all();
    if (throws) throw std::runtime_error("a bug in the writer");
    sync::lifecycle::Outcome outcome;
    outcome.error = error;
    co_return outcome;
  }

  // Waits until `count` effects have arrived in all.
  asio::awaitable<void> wait_for(std::size_t count) {
    while (asked.size() < count) co_await changed_.wait();
  }

  std::vector<sync::lifecycle::Effect> asked;
  std::size_t answered = 0;
  std::optional<Errc> error;
  bool throws = false;

 private:
  bool holding_ = false;
  loop::Event changed_;
};

}  // namespace holdfast::agent
