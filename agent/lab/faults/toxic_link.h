// The toxics of one connection, without I/O: bytes go in, and come out when the toxics let them.
//
//   client -> feed() -> toxic -> toxic -> next() -> server      a Pipe for each direction
//
// The owner feeds what it has read, and writes what next() returns. It calls next() again at
// deadline(), or earlier after it called any other function. Time and randomness come from outside:
// the same calls with the same seed have the same results.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/lab/faults/toxic.h"
#include "agent/lab/faults/toxic_stage.h"
#include "platform/random.h"
#include "platform/time.h"

namespace holdfast::agent::faults {

// One direction.
class Pipe {
 public:
  // What a toxic may hold. When the first one holds more, the owner stops reading from the source
  // (has_room()); a later one makes the toxic before it wait.
  static constexpr std::size_t stage_bytes_max = 1UL << 20;

  explicit Pipe(std::uint64_t seed) : random_(seed) {}

  // Adds a toxic after those that are there. If it does not act on this connection, it only keeps
  // its place.
  void add(MonoTime now, const Toxic& toxic, bool acts);
  // Applies changed attributes of the toxic of that name.
  void change(MonoTime now, const Toxic& toxic, bool acts);
  // What the toxic held continues at once.
  void remove(MonoTime now, const std::string& name);

  void feed(MonoTime now, Piece piece);
  // The next piece that is due, or nothing. After Piece::Kind::close or reset there is none.
  [[nodiscard]] std::optional<Piece> next(MonoTime now);
  // When next() may return a piece if nothing else happens.
  [[nodiscard]] MonoTime deadline() const;

  // Whether the owner should read more.
  [[nodiscard]] bool has_room() const;
  // The memory that everything in the pipe takes, in bytes.
  [[nodiscard]] std::size_t held() const;
  // Whether a black hole acts on this direction.
  [[nodiscard]] bool is_black_hole() const;

 private:
  struct Slot {
    std::string name;
    std::unique_ptr<Stage> stage;  // null if the toxic does not act
  };

  // Hands `piece` to the first stage from `index` on, or to the exit.
  void hand_on(std::size_t index, MonoTime now, Piece piece);
  // Moves everything that is due as far as it may go.
  void advance(MonoTime now);
  [[nodiscard]] bool has_room_from(std::size_t index) const;
  [[nodiscard]] std::size_t index_of(const std::string& name) const;

  Random random_;
  std::vector<Slot> slots_;
  std::deque<Piece> exit_;  // what next() returns
  std::size_t exit_cost_ = 0;
  bool is_over_ = false;  // close or reset was returned
};

// Both directions, and the draw that decides for each toxic whether it acts on this connection.
class ToxicLink {
 public:
  explicit ToxicLink(std::uint64_t seed);

  // A toxic that acts on both directions acts on both or on neither.
  void add(MonoTime now, const Toxic& toxic);
  // Also follows a changed toxicity: the draw stays the same.
  void change(MonoTime now, const Toxic& toxic);
  void remove(MonoTime now, const Toxic& toxic);

  [[nodiscard]] Pipe& pipe(Stream direction);
  [[nodiscard]] std::size_t held() const { return up_.held() + down_.held(); }

 private:
  Random draws_;
  Pipe up_;
  Pipe down_;
  std::map<std::string, double> drawn_;  // by the toxic's name
};

}  // namespace holdfast::agent::faults
