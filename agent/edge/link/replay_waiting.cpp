// The part of Replay that decides when a queued write is sent again, how long its requests may
// take, and how many are sent at the same time.

#include <algorithm>

#include "agent/edge/link/replay.h"

namespace holdfast::agent {

std::set<store::EntryId> Replay::held_back() const {
  std::set<store::EntryId> held;
  for (const auto& [id, waiting] : waiting_) {
    if (waiting.due > clock_.mono()) held.insert(id);
  }
  return held;
}

void Replay::drain_soon() {
  if (!next_drain_) next_drain_ = clock_.mono();
}

MonoTime Replay::due() const {
  MonoTime first = next_drain_.value_or(MonoTime::max());
  for (const auto& [id, waiting] : waiting_) first = std::min(first, waiting.due);
  // While the server is overloaded, single writes wait as long as all others.
  return next_drain_ ? std::max(first, *next_drain_) : first;
}

// Removes entries that were due when a drain began and did not come: a newer write superseded them.
void Replay::forget_finished_entries(MonoTime began) {
  std::erase_if(waiting_, [began](const auto& each) { return each.second.due <= began; });
}

Duration Replay::request_limit(const store::Entry& entry) const {
  const auto waits = waiting_.find(entry.id);
  return sync::autonomy::replay_request_limit(waits == waiting_.end() ? 0 : waits->second.failures);
}

void Replay::adapt_width(const Result<http::Response>& answer, Duration took) {
  const bool is_late = !answer && answer.error().code == Errc::timeout;
  const bool is_overloaded = answer && (answer->status == 429 || answer->status == 503);
  if (is_late || is_overloaded) {
    width_.note_congestion();
  } else if (answer) {
    width_.note_answer(took);
  }
}

}  // namespace holdfast::agent
