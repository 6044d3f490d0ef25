// Which of many numbered things is due: one heap for a hundred thousand deadlines.
//
// Moving a deadline later, which every heartbeat does, costs nothing: the heap keeps its entry and
// corrects it when that comes up. Numbers should be small and dense; they index an array.

#pragma once

#include <cstdint>
#include <vector>

#include "platform/time.h"

namespace holdfast::sync::pacing {

class Deadlines {
 public:
  using Id = std::uint32_t;

  // Sets the deadline of `id`; MonoTime::max() clears it.
  void set(Id id, MonoTime when);
  void clear(Id id) { set(id, MonoTime::max()); }

  // Appends what lies strictly before `now` and clears its deadline.
  void take_before(MonoTime now, std::vector<Id>& due);

  // No deadline lies before this; it may be too early, never too late.
  [[nodiscard]] MonoTime next() const;

 private:
  struct Entry {
    MonoTime when;
    Id id;
  };
  struct Slot {
    MonoTime wanted = MonoTime::max();
    MonoTime queued = MonoTime::max();  // of the earliest entry in the heap
  };

  void push(Id id, MonoTime when);

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
};

}  // namespace holdfast::sync::pacing
