// Decides what people are told about outages of the cloud: when one begins and ends, what is
// said about it, and how often that is said again.
//
// An outage begins with the first failure of the row that put the link offline, or with the start
// of the agent, and ends when the link is connected again. It is told once with its reason and with
// what can be done, then again at growing intervals (1 min, 2 min, 4 min, ... 1 h), and once more
// when it meets a kind of fault that was not told yet. Its end is told in one line.
//
// Pure: the caller brings the time, asks at due() what is to be said, and says it.

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/time.h"
#include "sync/autonomy/fault.h"
#include "sync/autonomy/link.h"

namespace holdfast::sync {

struct OutageConfig {
  Duration repeat_min = 1min;  // until an outage is told again for the first time; then doubled
  Duration repeat_max = 1h;
  // An agent that starts without credentials gets its first ones in this time, or says so.
  Duration first_credentials = 10s;
  std::size_t reason_bytes = 400;  // longer reasons are cut
};

// What became of the writes that an outage left behind.
struct ReplayTally {
  std::uint64_t applied = 0;
  std::uint64_t refused = 0;       // by the API server, or too old to be sent
  std::string first_refused = {};  // "PATCH /api/v1/...: answered 422"; "" when none was

  bool operator==(const ReplayTally&) const = default;
};

// One thing to say.
struct OutageNote {
  enum class Kind : std::uint8_t {
    lost,   // the outage has begun
    still,  // it goes on
    back,   // the link is connected
  };

  Kind kind = Kind::lost;
  MonoTime began{};
  MonoTime at{};            // when this was decided
  bool was_reached = true;  // the cloud, before the outage; false: not since the agent started
  bool was_told = true;     // of `back`: false when the agent connected without any failure
  bool resumed = false;     // it began in an earlier run of the agent, which has recorded that
  LinkFault fault = LinkFault::other;
  std::string reason = {};    // "connect 10.0.0.1:6443: connection refused"
  ReplayTally replayed = {};  // of `back`

  bool operator==(const OutageNote&) const = default;
};

class Outage {
 public:
  // Begins with the agent: nothing was reached yet.
  Outage(const OutageConfig& config, MonoTime now);

  // An earlier run of the agent had lost the cloud at `began`, and did not see it again.
  void resume(MonoTime began);

  // What a request or a change of the link has told; `state` is the link's after it. `fault` is
  // nothing when an answer came. `now` does not run backwards.
  void record(MonoTime now, LinkState state, std::optional<LinkFault> fault,
              std::string_view reason);
  // A write of the outbox was settled: `refused` says how it was refused; "" when it was applied.
  void settled(std::string_view refused);

  // What is to be said now, in order.
  [[nodiscard]] std::vector<OutageNote> take(MonoTime now);
  // When to call take(); MonoTime::max(): there is no need. record() may change it.
  [[nodiscard]] MonoTime due() const;

  // Since when the cloud has been away; nothing while the link is connected.
  [[nodiscard]] std::optional<MonoTime> began() const;
  [[nodiscard]] bool was_reached() const { return was_reached_; }
  [[nodiscard]] LinkFault fault() const { return fault_; }
  [[nodiscard]] LinkState state() const { return state_; }

 private:
  void connect(MonoTime now);
  void miss(MonoTime now);
  void tell(OutageNote::Kind kind, MonoTime now);
  [[nodiscard]] OutageNote note(OutageNote::Kind kind, MonoTime now) const;

  OutageConfig config_;
  LinkState state_ = LinkState::offline;
  std::optional<MonoTime> began_;  // the agent's start, the first failure, or nothing
  bool was_reached_ = false;
  bool resumed_ = false;
  bool told_ = false;  // the outage was
  std::array<bool, link_faults> told_faults_{};
  MonoTime told_at_{};
  MonoTime due_ = MonoTime::max();
  Duration interval_;
  LinkFault fault_ = LinkFault::other;
  std::string reason_;
  ReplayTally replayed_;
  std::vector<OutageNote> notes_;
};

// Both clocks at one moment, to show a MonoTime on the calendar.
struct ClockReading {
  MonoTime mono{};
  WallTime wall{};

  [[nodiscard]] WallTime wall_at(MonoTime time) const { return wall - (mono - time); }
};

// A note as a line of the log. Times are UTC.
[[nodiscard]] std::string log_text(const OutageNote& note, const ClockReading& now);
// The same in short, for the journal.
[[nodiscard]] std::string journal_text(const OutageNote& note);

// "the cloud has been unreachable since 14:02Z (26 min): connection refused", for whoever is
// answered without the cloud; "" while the link is connected. Times are UTC, and have the date
// unless it is today's.
[[nodiscard]] std::string describe(const Outage& outage, const ClockReading& now);

}  // namespace holdfast::sync
