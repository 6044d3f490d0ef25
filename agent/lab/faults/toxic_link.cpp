#include "agent/lab/faults/toxic_link.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::agent::faults {

void Pipe::add(MonoTime now, const Toxic& toxic, bool acts) {
  slots_.push_back({toxic.name, acts ? Stage::make(toxic, random_, now) : nullptr});
}

void Pipe::change(MonoTime now, const Toxic& toxic, bool acts) {
  const std::size_t index = index_of(toxic.name);
  Slot& slot = slots_[index];
  if (slot.stage && acts) {
    slot.stage->change(toxic, now);
  } else if (acts) {
    slot.stage = Stage::make(toxic, random_, now);
  } else if (slot.stage) {
    const std::unique_ptr<Stage> ended = std::move(slot.stage);
    for (Piece& piece : ended->release()) hand_on(index + 1, now, std::move(piece));
  }
}

void Pipe::remove(MonoTime now, const std::string& name) {
  const std::size_t index = index_of(name);
  const std::unique_ptr<Stage> ended = std::move(slots_[index].stage);
  slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(index));
  if (!ended) return;
  for (Piece& piece : ended->release()) hand_on(index, now, std::move(piece));
}

void Pipe::feed(MonoTime now, Piece piece) {
  hand_on(0, now, std::move(piece));
  advance(now);
}

std::optional<Piece> Pipe::next(MonoTime now) {
  if (is_over_) return std::nullopt;
  advance(now);
  if (exit_.empty()) return std::nullopt;
  Piece piece = std::move(exit_.front());
  exit_.pop_front();
  exit_cost_ -= cost_of(piece);
  is_over_ = piece.kind == Piece::Kind::close || piece.kind == Piece::Kind::reset;
  return piece;
}

MonoTime Pipe::deadline() const {
  if (is_over_) return MonoTime::max();
  if (!exit_.empty()) return MonoTime::min();
  MonoTime earliest = MonoTime::max();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].stage || !has_room_from(i + 1)) continue;
    earliest = std::min(earliest, slots_[i].stage->due());
  }
  return earliest;
}

bool Pipe::has_room() const { return has_room_from(0); }

std::size_t Pipe::held() const {
  std::size_t cost = exit_cost_;
  for (const Slot& slot : slots_) cost += slot.stage ? slot.stage->cost() : 0;
  return cost;
}

bool Pipe::is_black_hole() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.stage && slot.stage->toxic().type == ToxicType::black_hole;
  });
}

void Pipe::hand_on(std::size_t index, MonoTime now, Piece piece) {
  while (index < slots_.size() && !slots_[index].stage) ++index;
  if (index < slots_.size()) return slots_[index].stage->take(now, std::move(piece));
  exit_cost_ += cost_of(piece);
  exit_.push_back(std::move(piece));
}

// From the last toxic to the first: what a later one emits makes room for an earlier one. What an
// earlier one emits may be due at once in a later one, so this repeats until nothing moves.
void Pipe::advance(MonoTime now) {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = slots_.size(); i-- > 0;) {
      Stage* const stage = slots_[i].stage.get();
      while (stage != nullptr && stage->due() <= now && has_room_from(i + 1)) {
        hand_on(i + 1, now, stage->next(now));
        moved = true;
      }
    }
  }
}

bool Pipe::has_room_from(std::size_t index) const {
  while (index < slots_.size() && !slots_[index].stage) ++index;
  const std::size_t cost = index < slots_.size() ? slots_[index].stage->cost() : exit_cost_;
  return cost < stage_bytes_max;
}

std::size_t Pipe::index_of(const std::string& name) const {
  const auto found = std::find_if(slots_.begin(), slots_.end(),
                                  [&name](const Slot& slot) { return slot.name == name; });
  CHECK(found != slots_.end());
  return static_cast<std::size_t>(found - slots_.begin());
}

ToxicLink::ToxicLink(std::uint64_t seed) : draws_(seed), up_(draws_.next()), down_(draws_.next()) {}

void ToxicLink::add(MonoTime now, const Toxic& toxic) {
  const double drawn = draws_.unit();
  drawn_[toxic.name] = drawn;
  for (const Stream direction : {Stream::upstream, Stream::downstream}) {
    if (toxic.acts_on(direction)) pipe(direction).add(now, toxic, drawn < toxic.toxicity);
  }
}

void ToxicLink::change(MonoTime now, const Toxic& toxic) {
  const bool acts = drawn_.at(toxic.name) < toxic.toxicity;
  for (const Stream direction : {Stream::upstream, Stream::downstream}) {
    if (toxic.acts_on(direction)) pipe(direction).change(now, toxic, acts);
  }
}

void ToxicLink::remove(MonoTime now, const Toxic& toxic) {
  drawn_.erase(toxic.name);
  for (const Stream direction : {Stream::upstream, Stream::downstream}) {
    if (toxic.acts_on(direction)) pipe(direction).remove(now, toxic.name);
  }
}

Pipe& ToxicLink::pipe(Stream direction) {
  CHECK(direction != Stream::both);
  return direction == Stream::upstream ? up_ : down_;
}

}  // namespace holdfast::agent::faults
