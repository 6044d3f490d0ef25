#include "agent/lab/faults/toxic_stage.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::agent::faults {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A piece that left late, because something else was busy, lets the next ones catch up by at most
// this much. So timers need not be exact for a rate to be.
constexpr Duration catch_up_max = milliseconds(100);

class LatencyStage final : public Stage {
 public:
  using Stage::Stage;

 private:
  Plan plan(MonoTime from, const Held& head) override {
    if (!head.is_bytes()) return {from, head.size()};
    Duration delay = milliseconds(toxic().get("latency"));
    const Duration jitter = milliseconds(toxic().get("jitter"));
    delay += random().jitter(2 * jitter) - jitter;
    return {std::max(from, head.entered + delay), head.size()};
  }
};

class BandwidthStage final : public Stage {
 public:
  using Stage::Stage;

 private:
  // Large pieces leave in slices of 100 ms.
  Plan plan(MonoTime from, const Held& head) override {
    if (!head.is_bytes()) return {from, head.size()};
    const auto bytes_per_ms = toxic().get("rate");
    if (bytes_per_ms == 0) return {MonoTime::max(), head.size()};
    const auto size =
        std::min<std::int64_t>(static_cast<std::int64_t>(head.size()), bytes_per_ms * 100);
    const Duration wait = Duration(milliseconds(1)) * size / bytes_per_ms;
    return {from + wait, static_cast<std::size_t>(size)};
  }
};

class SlowCloseStage final : public Stage {
 public:
  using Stage::Stage;

 private:
  Plan plan(MonoTime from, const Held& head) override {
    if (head.is_bytes()) return {from, head.size()};
    return {std::max(from, head.entered + milliseconds(toxic().get("delay"))), 0};
  }
};

class TimeoutStage final : public Stage {
 public:
  using Stage::Stage;

  // The bytes that were dropped are missing from the stream, so the connection cannot go on.
  std::vector<Piece> release() override { return {Piece{Piece::Kind::close}}; }

 private:
  void begin(MonoTime now) override {
    const Duration timeout = milliseconds(toxic().get("timeout"));
    set_alarm(timeout == Duration::zero() ? MonoTime::max() : now + timeout, Piece::Kind::close);
  }
  void arrive(MonoTime now, Piece piece) override {
    if (piece.kind != Piece::Kind::bytes) hold(now, std::move(piece));
  }
};

class ResetPeerStage final : public Stage {
 public:
  using Stage::Stage;

  std::vector<Piece> release() override {
    if (!has_dropped_) return {};
    return {Piece{Piece::Kind::reset}};
  }

 private:
  void begin(MonoTime now) override {
    set_alarm(now + milliseconds(toxic().get("timeout")), Piece::Kind::reset);
  }
  void arrive(MonoTime, Piece) override { has_dropped_ = true; }

  bool has_dropped_ = false;
};

class SlicerStage final : public Stage {
 public:
  using Stage::Stage;

 private:
  Plan plan(MonoTime from, const Held& head) override {
    if (!head.is_bytes()) return {from, head.size()};
    const std::int64_t average = toxic().get("average_size");
    const std::int64_t variation = toxic().get("size_variation");
    const auto drawn = random().below(static_cast<std::uint64_t>(2 * variation) + 1);
    const std::int64_t size = average - variation + static_cast<std::int64_t>(drawn);
    MonoTime due = from;
    if (last_left() != MonoTime::min()) {
      due = std::max(due, last_left() + microseconds(toxic().get("delay")));
    }
    return {due, std::min(head.size(), static_cast<std::size_t>(size))};
  }
};

class LimitDataStage final : public Stage {
 public:
  using Stage::Stage;

 private:
  void arrive(MonoTime now, Piece piece) override {
    if (piece.kind != Piece::Kind::bytes) return hold(now, std::move(piece));
    const std::int64_t room = std::max<std::int64_t>(toxic().get("bytes") - passed_, 0);
    if (room < static_cast<std::int64_t>(piece.bytes.size())) {
      piece.bytes.resize(static_cast<std::size_t>(room));
    }
    passed_ += static_cast<std::int64_t>(piece.bytes.size());
    if (!piece.bytes.empty()) hold(now, std::move(piece));
    if (passed_ >= toxic().get("bytes")) hold(now, Piece{Piece::Kind::close});
  }

  std::int64_t passed_ = 0;
};

class BlackHoleStage final : public Stage {
 public:
  using Stage::Stage;

 private:
  Plan plan(MonoTime, const Held& head) override { return {MonoTime::max(), head.size()}; }
};

}  // namespace

std::unique_ptr<Stage> Stage::make(const Toxic& toxic, Random& random, MonoTime now) {
  std::unique_ptr<Stage> stage;
  switch (toxic.type) {
    case ToxicType::latency:
      stage = std::make_unique<LatencyStage>(toxic, random);
      break;
    case ToxicType::bandwidth:
      stage = std::make_unique<BandwidthStage>(toxic, random);
      break;
    case ToxicType::slow_close:
      stage = std::make_unique<SlowCloseStage>(toxic, random);
      break;
    case ToxicType::timeout:
      stage = std::make_unique<TimeoutStage>(toxic, random);
      break;
    case ToxicType::reset_peer:
      stage = std::make_unique<ResetPeerStage>(toxic, random);
      break;
    case ToxicType::slicer:
      stage = std::make_unique<SlicerStage>(toxic, random);
      break;
    case ToxicType::limit_data:
      stage = std::make_unique<LimitDataStage>(toxic, random);
      break;
    case ToxicType::black_hole:
      stage = std::make_unique<BlackHoleStage>(toxic, random);
      break;
    case ToxicType::refuse:
      UNREACHABLE();
  }
  stage->begin(now);
  return stage;
}

void Stage::take(MonoTime now, Piece piece) {
  if (!is_over_) arrive(now, std::move(piece));
}

void Stage::hold(MonoTime now, Piece piece) {
  if (is_over_) return;
  is_over_ = piece.kind == Piece::Kind::close || piece.kind == Piece::Kind::reset;
  cost_ += cost_of(piece);
  queue_.push_back({std::move(piece), now});
  if (queue_.size() == 1) plan_head(now);
}

MonoTime Stage::due() const { return queue_.empty() ? alarm_ : std::min(alarm_, head_.due); }

Piece Stage::next(MonoTime now) {
  CHECK(due() <= now);
  if (alarm_ <= now) {
    alarm_ = MonoTime::max();
    is_over_ = true;
    queue_.clear();
    cost_ = 0;
    return Piece{alarm_kind_};
  }
  const MonoTime left_at = std::max(head_.due, now - catch_up_max);
  Held& head = queue_.front();
  Piece piece;
  if (head.is_bytes() && head_.size < head.size()) {
    piece.bytes = head.piece.bytes.substr(head.left, head_.size);
    head.left += head_.size;
  } else {
    cost_ -= cost_of(head.piece);
    piece = std::move(head.piece);
    piece.bytes.erase(0, head.left);
    queue_.pop_front();
  }
  if (piece.kind == Piece::Kind::bytes) last_left_ = left_at;
  if (!queue_.empty()) plan_head(left_at);
  return piece;
}

void Stage::change(const Toxic& toxic, MonoTime now) {
  CHECK(toxic.type == toxic_.type);
  toxic_ = toxic;
  begin(now);
  if (!queue_.empty()) plan_head(now);
}

std::vector<Piece> Stage::release() {
  std::vector<Piece> pieces;
  for (Held& held : queue_) {
    held.piece.bytes.erase(0, held.left);
    pieces.push_back(std::move(held.piece));
  }
  return pieces;
}

void Stage::plan_head(MonoTime from) { head_ = plan(from, queue_.front()); }

}  // namespace holdfast::agent::faults
