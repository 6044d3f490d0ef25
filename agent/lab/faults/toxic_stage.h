// What a toxic does to the bytes of one direction of one connection, without I/O.
//
// Pieces go in with take() and come out of next() once they are due, in the same order. A stage is
// given the time and never waits.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "agent/lab/faults/toxic.h"
#include "platform/random.h"
#include "platform/time.h"

namespace holdfast::agent::faults {

// What travels in one direction: bytes, and then at most one of the other kinds.
struct Piece {
  enum class Kind : std::uint8_t {
    bytes,
    end,    // the source has ended its stream; the other direction continues
    close,  // a toxic closes the connection
    reset   // the source or a toxic resets the connection
  };

  Kind kind = Kind::bytes;
  std::string bytes = {};

  bool operator==(const Piece&) const = default;
};

class Stage {
 public:
  Stage(const Toxic& toxic, Random& random) : toxic_(toxic), random_(random) {}
  virtual ~Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // The stage of a toxic of any type but `refuse`, which acts on whole connections. `random` must
  // outlive it.
  [[nodiscard]] static std::unique_ptr<Stage> make(const Toxic& toxic, Random& random,
                                                   MonoTime now);

  void take(MonoTime now, Piece piece);
  // When next() may be called; MonoTime::max() if only a further call changes that.
  [[nodiscard]] MonoTime due() const;
  // The next piece. `now` must have reached due().
  [[nodiscard]] Piece next(MonoTime now);
  // The toxic's attributes have changed. They apply to the pieces that it holds, too.
  void change(const Toxic& toxic, MonoTime now);
  // The toxic was removed: returns what the stage holds. Do not use it afterwards.
  [[nodiscard]] virtual std::vector<Piece> release();

  // The memory that the pieces take, in bytes.
  [[nodiscard]] std::size_t cost() const { return cost_; }
  [[nodiscard]] const Toxic& toxic() const { return toxic_; }

 protected:
  struct Held {
    Piece piece;
    MonoTime entered;
    std::size_t left = 0;  // bytes at its beginning that have left

    [[nodiscard]] std::size_t size() const { return piece.bytes.size() - left; }
    [[nodiscard]] bool is_bytes() const { return piece.kind == Piece::Kind::bytes; }
  };
  // When the head of the queue, or the first `size` bytes of it, may leave.
  struct Plan {
    MonoTime due;
    std::size_t size;
  };

  // Handles a new piece: adds it to the queue with hold(), or something else, or nothing.
  virtual void arrive(MonoTime now, Piece piece) { hold(now, std::move(piece)); }
  // Plans the head of the queue, which may leave at `from` or later.
  [[nodiscard]] virtual Plan plan(MonoTime from, const Held& head) { return {from, head.size()}; }
  // Called at the beginning and after each change of the toxic.
  virtual void begin(MonoTime) {}

  void hold(MonoTime now, Piece piece);
  // Emits a piece of the stage's own at `at`, before everything that is held. MonoTime::max(): does
  // not.
  void set_alarm(MonoTime at, Piece::Kind kind) {
    alarm_ = at;
    alarm_kind_ = kind;
  }
  [[nodiscard]] Random& random() { return random_; }
  // When bytes left last; MonoTime::min() if none have.
  [[nodiscard]] MonoTime last_left() const { return last_left_; }

 private:
  void plan_head(MonoTime from);

  Toxic toxic_;
  Random& random_;
  std::deque<Held> queue_;
  Plan head_{MonoTime::max(), 0};  // meaningful if the queue is not empty
  MonoTime alarm_ = MonoTime::max();
  Piece::Kind alarm_kind_ = Piece::Kind::close;
  MonoTime last_left_ = MonoTime::min();
  std::size_t cost_ = 0;
  bool is_over_ = false;  // the connection is closed; further pieces are dropped
};

// The memory that a piece takes: its bytes and about as much as the queue and the string need.
[[nodiscard]] inline std::size_t cost_of(const Piece& piece) { return piece.bytes.size() + 64; }

}  // namespace holdfast::agent::faults
