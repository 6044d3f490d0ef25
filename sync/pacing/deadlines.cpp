#include "sync/pacing/deadlines.h"

#include <algorithm>

namespace holdfast::sync::pacing {
namespace {

constexpr auto later = [](const auto& left, const auto& right) { return left.when > right.when; };

}  // namespace

void Deadlines::set(Id id, MonoTime when) {
  if (id >= slots_.size()) slots_.resize(id + 1);
  slots_[id].wanted = when;
  if (when < slots_[id].queued) push(id, when);
}

void Deadlines::take_before(MonoTime now, std::vector<Id>& due) {
  while (!heap_.empty() && heap_.front().when < now) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Entry entry = heap_.back();
    heap_.pop_back();
    Slot& slot = slots_[entry.id];
    if (entry.when != slot.queued) continue;  // Superseded by an earlier entry.
    slot.queued = MonoTime::max();
    if (slot.wanted < now) {
      slot.wanted = MonoTime::max();
      due.push_back(entry.id);
    } else if (slot.wanted != MonoTime::max()) {
      push(entry.id, slot.wanted);
    }
  }
}

MonoTime Deadlines::next() const { return heap_.empty() ? MonoTime::max() : heap_.front().when; }

void Deadlines::push(Id id, MonoTime when) {
  slots_[id].queued = when;
  heap_.push_back({when, id});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

}  // namespace holdfast::sync::pacing
