// The engine of a simulation: virtual time, tasks in order of time, one seeded random source, and
// the trace of what happened.
//
// Tasks that are due at the same time run in the order in which they were added. So the same seed
// gives the same run, event by event. Not thread-safe.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/result/result.h"
#include "platform/random.h"
#include "platform/time.h"

namespace holdfast::agent::lab::sim {

using Task = std::function<void()>;

// Tasks that were added with a Life do not run after it ended: the process that they belong to is
// gone.
class Life {
 public:
  void end() { token_ = std::make_shared<char>(); }
  [[nodiscard]] std::weak_ptr<void> token() const { return token_; }

 private:
  std::shared_ptr<void> token_ = std::make_shared<char>();
};

class Engine {
 public:
  // The true calendar time when a simulation starts.
  static constexpr WallTime wall_start{std::chrono::sys_days{std::chrono::January / 5 / 2026}};
  static constexpr std::size_t last_events = 50;

  explicit Engine(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] MonoTime now() const { return now_; }
  [[nodiscard]] Duration elapsed() const { return now_ - start; }
  [[nodiscard]] WallTime wall() const { return wall_start + elapsed(); }
  [[nodiscard]] Random& random() { return random_; }

  // Runs `task` at `when`, or at once after the current one if that has passed.
  void at(MonoTime when, Task task);
  void at(MonoTime when, const Life& life, Task task);
  void after(Duration delay, Task task) { at(now_ + delay, std::move(task)); }
  void after(Duration delay, const Life& life, Task task) {
    at(now_ + delay, life, std::move(task));
  }

  // Runs all tasks up to `end`; stops after the one that violates an invariant.
  void run_until(MonoTime end);

  // Adds a line to the trace: "10m3.2s a-1 link offline: deadline passed".
  void trace(std::string_view subject, std::string_view what);
  // Each line of the trace goes here, too; it ends with a newline.
  void on_trace(std::function<void(std::string_view)> sink) { sink_ = std::move(sink); }

  // Ends the simulation; only the first violation counts.
  void violate(std::string invariant, std::string what);
  [[nodiscard]] const std::optional<Violation>& violation() const { return violation_; }

  [[nodiscard]] std::uint64_t events() const { return events_; }
  // A hash of the trace and of the times of all tasks.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

  // Rules subtract times from `now`, so it must not be close to the smallest one.
  static constexpr MonoTime start{std::chrono::hours(24)};

 private:
  // Small, because a heap moves its elements often.
  struct Entry {
    MonoTime when;
    std::uint64_t number;
    std::uint32_t slot;  // of its task in tasks_
  };
  // The earliest task is at the top of the heap.
  struct Later {
    bool operator()(const Entry& left, const Entry& right) const {
      return left.when != right.when ? left.when > right.when : left.number > right.number;
    }
  };

  void mix(std::uint64_t value);

  MonoTime now_ = start;
  Random random_;
  std::vector<Entry> queue_;
  std::vector<Task> tasks_;
  std::vector<std::uint32_t> free_slots_;
  std::uint64_t added_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t digest_ = 0xcbf29ce484222325;
  std::deque<std::string> last_;
  std::function<void(std::string_view)> sink_;
  std::optional<Violation> violation_;
};

// One task that can be moved: setting it again replaces it. Belongs to a process: it does not run
// after `life` ended. The Timer must outlive `life`.
class Timer {
 public:
  // Does nothing if the task is due at `when` already.
  void set(Engine& engine, const Life& life, MonoTime when, Task task);
  void clear();

 private:
  std::uint64_t turn_ = 0;
  MonoTime due_ = MonoTime::max();
};

}  // namespace holdfast::agent::lab::sim
