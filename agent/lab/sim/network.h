// The links of the modelled network: from each node to the API server.
//
// A link behaves as a TCP connection over its medium: what is sent arrives in order, later or not
// at all. What is sent while a direction is cut arrives after it is healed, because TCP repeats it,
// unless the connection was closed meanwhile.

#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/scenario/scenario.h"
#include "agent/lab/sim/engine.h"
#include "agent/lab/sim/quiet.h"

namespace holdfast::agent::lab::sim {

enum class Way : std::uint8_t { up, down };  // up: towards the API server
inline constexpr std::size_t ways = 2;

// What the nodes of a site share: its line to the cloud sends one message after the other.
struct Line {
  std::array<MonoTime, ways> free_at{MonoTime::min(), MonoTime::min()};
};

// What a node draws random numbers for.
enum class Draw : std::uint8_t { message, repeat, lease, agent, pods, node };
inline constexpr std::size_t draws = 6;

class Link {
 public:
  Link(Engine& engine, std::shared_ptr<Line> line, const LinkProfile& profile);

  // One connection: messages of a way arrive in the order in which they were sent.
  struct Connection {
    std::array<MonoTime, ways> last{MonoTime::min(), MonoTime::min()};
    bool closed = false;
    Task on_reset = {};  // the connection was reset; called at most once
  };
  using ConnectionPtr = std::shared_ptr<Connection>;

  [[nodiscard]] ConnectionPtr connect();
  // `arrive` runs at the other end, unless the connection is closed by then.
  void send(Way way, const ConnectionPtr& connection, std::size_t bytes, Task arrive);

  // Cuts may overlap: each one is healed with the same values, or all at once.
  void cut(Direction direction, CutKind kind);
  void heal(Direction direction, CutKind kind);
  // Ends all cuts, and restores the usual quality.
  void heal_all();
  // `is_usual` says that this is the link's own quality, to which it returns.
  void set_quality(const LinkQuality& up, const LinkQuality& down, bool is_usual);
  void restore_quality();
  // "cut", "degraded" or "", as in NodeResult::link.
  [[nodiscard]] std::string_view state() const;
  // Resets all connections, as when the API server restarts.
  void reset_all();

  [[nodiscard]] bool is_cut(Way way) const { return cuts_[index(way)] > 0; }
  [[nodiscard]] bool is_cut() const { return is_cut(Way::up) || is_cut(Way::down); }
  // New connections are refused at once instead of getting no answer.
  [[nodiscard]] bool refuses() const { return refusals_ > 0; }
  [[nodiscard]] std::uint64_t bytes(Way way) const { return bytes_[index(way)]; }

  // The node at this end draws from sources of its own from now on, instead of the simulation's one
  // source. Then what happens to other nodes, and heartbeats that are skipped, do not change it.
  void use_own_random(std::uint64_t seed);
  [[nodiscard]] bool has_own_random() const { return !own_random_.empty(); }
  [[nodiscard]] Random& random(Draw draw);
  // Begins an own source anew, as a function of the time; does nothing without one.
  void restart_random(Draw draw);

  // Of the node at this end.
  [[nodiscard]] Quiet& quiet() { return quiet_; }
  [[nodiscard]] const Quiet& quiet() const { return quiet_; }
  // Whether a message may be late by much.
  [[nodiscard]] bool is_lossy() const { return quality_[0].loss > 0 || quality_[1].loss > 0; }
  // Bytes that one message needs besides its own: headers of HTTP/2, TLS, TCP and IP.
  static constexpr std::size_t overhead = 120;

 private:
  struct Held {
    Way way;
    ConnectionPtr connection;
    std::size_t bytes;
    Task arrive;
  };

  static constexpr std::size_t index(Way way) { return static_cast<std::size_t>(way); }
  void release(Way way);

  Engine& engine_;
  std::shared_ptr<Line> line_;
  std::array<LinkQuality, ways> quality_;
  std::array<LinkQuality, ways> usual_quality_;
  bool is_degraded_ = false;
  std::array<int, ways> cuts_{};
  int refusals_ = 0;
  std::array<MonoTime, ways> cut_since_{};
  std::array<std::uint64_t, ways> bytes_{};
  std::vector<Held> held_;
  std::vector<std::weak_ptr<Connection>> connections_;  // some of them are gone
  std::size_t clean_at_ = 8;                            // their number
  std::uint64_t seed_ = 0;
  std::vector<Random> own_random_;  // by Draw; empty: the engine's
  Quiet quiet_;
};

}  // namespace holdfast::agent::lab::sim
