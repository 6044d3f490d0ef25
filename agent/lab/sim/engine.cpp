#include "agent/lab/sim/engine.h"

#include <algorithm>
#include <utility>

namespace holdfast::agent::lab::sim {

void Engine::at(MonoTime when, Task task) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(tasks_.size()));
    tasks_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  tasks_[slot] = std::move(task);
  queue_.push_back({std::max(when, now_), added_++, slot});
  std::push_heap(queue_.begin(), queue_.end(), Later{});
}

void Engine::at(MonoTime when, const Life& life, Task task) {
  at(when, [token = life.token(), task = std::move(task)] {
    if (!token.expired()) task();
  });
}

void Engine::run_until(MonoTime end) {
  while (!queue_.empty() && queue_.front().when <= end && !violation_) {
    std::pop_heap(queue_.begin(), queue_.end(), Later{});
    const Entry entry = queue_.back();
    queue_.pop_back();
    const Task task = std::exchange(tasks_[entry.slot], {});
    free_slots_.push_back(entry.slot);
    now_ = entry.when;
    ++events_;
    mix(static_cast<std::uint64_t>(now_.time_since_epoch().count()));
    task();
  }
  if (!violation_) now_ = std::max(now_, end);
}

// FNV-1a, eight bytes at a time.
void Engine::mix(std::uint64_t value) { digest_ = (digest_ ^ value) * 0x100000001b3; }

void Engine::trace(std::string_view subject, std::string_view what) {
  std::string line = format_duration(elapsed());
  line.append(" ").append(subject).append(" ").append(what);
  for (const char c : line) mix(static_cast<unsigned char>(c));
  if (sink_) sink_(line + "\n");
  last_.push_back(std::move(line));
  if (last_.size() > last_events) last_.pop_front();
}

void Engine::violate(std::string invariant, std::string what) {
  if (violation_) return;
  trace("VIOLATION", invariant + ": " + what);
  violation_ = Violation{.at = elapsed(),
                         .invariant = std::move(invariant),
                         .what = std::move(what),
                         .last_events = {last_.begin(), last_.end()}};
}

void Timer::set(Engine& engine, const Life& life, MonoTime when, Task task) {
  if (when == due_) return;
  clear();
  if (when == MonoTime::max()) return;
  due_ = when;
  engine.at(when, life, [this, turn = turn_, task = std::move(task)] {
    if (turn != turn_) return;
    due_ = MonoTime::max();
    task();
  });
}

void Timer::clear() {
  ++turn_;
  due_ = MonoTime::max();
}

}  // namespace holdfast::agent::lab::sim
