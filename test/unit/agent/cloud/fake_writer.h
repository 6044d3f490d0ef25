// A ClusterWriter that writes down what it is asked and answers when told.

#pragma once

#include <list>
#include <stdexcept>
#include <string>
#include <vector>

#include "agent/cloud/writer.h"
#include "platform/loop/event.h"

namespace holdfast::agent {

class FakeWriter final : public ClusterWriter {
 public:
  explicit FakeWriter(asio::any_io_executor executor) : changed_(std::move(executor)) {}

  // Answers are held back until release().
  void hold() { holding_ = true; }
  void release() {
    holding_ = false;
    changed_.notify_all();
  }

  asio::awaitable<sync::lifecycle::Outcome> perform(sync::lifecycle::Action action) override {
    asked.push_back(std::move(action));
    changed_.notify_all();
    while (holding_) co_await changed_.wait();
    ++answered;
    changed_.notify_all();
    if (throws) throw std::runtime_error("a bug in the writer");
    sync::lifecycle::Outcome outcome;
    outcome.error = error;
    co_return outcome;
  }

  // Returns once that many actions were asked for, or after ten seconds.
  asio::awaitable<void> wait_for(std::size_t count) {
    const MonoTime deadline = loop::BootClock::now() + std::chrono::seconds(10);
    while (asked.size() < count) {
      const bool told = co_await changed_.wait_until(deadline);
      if (!told) co_return;
    }
  }

  std::vector<sync::lifecycle::Action> asked;
  std::size_t answered = 0;
  std::optional<Errc> error;
  bool throws = false;

 private:
  bool holding_ = false;
  loop::Event changed_;
};

}  // namespace holdfast::agent
