// The deadlines of many numbered items, in one heap made for a hundred thousand of them.
//
// Moving a deadline later, as every heartbeat does, is O(1): the heap keeps the old entry and
// corrects it when that entry comes up. Ids should be small and dense, since they index an array.

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

  // Appends the ids whose deadlines lie strictly before `now`, and clears these deadlines.
  void take_before(MonoTime now, std::vector<Id>& due);

  // A lower bound of all deadlines: it may be too early, never too late.
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
