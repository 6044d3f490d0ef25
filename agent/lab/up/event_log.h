// The last events of a run, each with a number. Not thread-safe.

#pragma once

#include <deque>

#include "agent/lab/up/view.h"

namespace holdfast::agent::lab::up {

struct EventLogLimits {
  std::size_t lines = 200;
};

class EventLog {
 public:
  explicit EventLog(const EventLogLimits& limits = {}) : limits_(limits) {}

  void add(Duration at, std::string text) {
    lines_.push_back({at, std::move(text)});
    ++added_;
    if (lines_.size() > limits_.lines) lines_.pop_front();
  }
  [[nodiscard]] std::vector<EventLine> last() const { return {lines_.begin(), lines_.end()}; }
  // How many were ever added.
  [[nodiscard]] std::size_t added() const { return added_; }

 private:
  EventLogLimits limits_;
  std::deque<EventLine> lines_;
  std::size_t added_ = 0;
};

}  // namespace holdfast::agent::lab::up
