// Decides when to report an outage of the cloud, in the log and the journal, and how often to
// repeat the report.
//
// An outage begins with the first of the failures that took the link offline, or with the start of
// the agent, and ends when the link is connected again. It is reported once with its reason and
// advice, then again at growing intervals (1 min, 2 min, 4 min, ... 1 h), and also when a kind of
// fault occurs that was not reported yet. Its end is reported in one line.
//
// Pure: the caller passes the time, calls take() when due() has passed, and writes the notes.

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
#include "sync/pacing/monotonic.h"

namespace holdfast::sync::autonomy {

struct OutageConfig {
  Duration repeat_min = 1min;  // interval to the first repetition; doubled after each one
  Duration repeat_max = 1h;
  // How long an agent that starts without credentials waits for its first ones without a report.
  Duration first_credentials = 10s;
  std::size_t reason_bytes = 400;  // longer reasons are truncated
};

// What happened to the writes that were queued during an outage.
struct ReplayTally {
  std::uint64_t applied = 0;
  std::uint64_t refused = 0;       // rejected by the API server, or expired
  std::string first_refused = {};  // "PATCH /api/v1/...: answered 422"; "" when none was

  bool operator==(const ReplayTally&) const = default;
};

// One report.
struct OutageNote {
  // `lost`: the outage began. `still`: it continues. `back`: the link is connected again.
  enum class Kind : std::uint8_t {
    lost,
    still,
    back,
  };

  Kind kind = Kind::lost;
  MonoTime began{};
  MonoTime at{};  // when this report was made
  // The cloud was reached before the outage; false: never since the agent started.
  bool was_reached = true;
  // For `back`: false when the agent connected at its start before it reported an outage.
  bool was_reported = true;
  bool resumed = false;  // the outage began in an earlier run of the agent, which has recorded it
  LinkFault fault = LinkFault::other;
  std::string reason = {};    // "connect 10.0.0.1:6443: connection refused"
  ReplayTally replayed = {};  // for `back`

  bool operator==(const OutageNote&) const = default;
};

class Outage {
 public:
  // The first outage begins with the agent: nothing was reached yet.
  Outage(const OutageConfig& config, MonoTime now);

  // Continues an outage that began at `began`, in an earlier run of the agent.
  void resume(MonoTime began);

  // Records the outcome of a request or a state change of the link; `state` is the link's state
  // after it. `fault` is std::nullopt when the API server answered. `now` must not run backwards.
  void record(MonoTime now, LinkState state, std::optional<LinkFault> fault,
              std::string_view reason);
  // A write of the outbox is done: `refused` says why it was rejected; "" when it was applied.
  void settled(std::string_view refused);

  // Removes and returns the reports that are due now, in order.
  [[nodiscard]] std::vector<OutageNote> take(MonoTime now);
  // When to call take(); MonoTime::max(): never. record() may change it.
  [[nodiscard]] MonoTime due() const;

  // Since when the cloud has been unreachable; std::nullopt while the link is connected.
  [[nodiscard]] std::optional<MonoTime> began() const;
  [[nodiscard]] bool was_reached() const { return was_reached_; }
  [[nodiscard]] LinkFault fault() const { return fault_; }
  [[nodiscard]] LinkState state() const { return state_; }

 private:
  void connect(MonoTime now);
  void miss(MonoTime now);
  void report(OutageNote::Kind kind, MonoTime now);
  [[nodiscard]] OutageNote note(OutageNote::Kind kind, MonoTime now) const;

  OutageConfig config_;
  pacing::Monotonic monotonic_;
  LinkState state_ = LinkState::offline;
  std::optional<MonoTime> began_;  // as began(); std::nullopt while connected
  bool was_reached_ = false;
  bool resumed_ = false;
  bool is_reported_ = false;  // the current outage was reported
  std::array<bool, link_faults> reported_faults_{};
  MonoTime reported_at_{};
  MonoTime due_ = MonoTime::max();
  Duration interval_;
  LinkFault fault_ = LinkFault::other;
  std::string reason_;
  ReplayTally replayed_;
  std::vector<OutageNote> notes_;
};

// Readings of both clocks at one moment, used to convert a MonoTime to wall time.
struct ClockReading {
  MonoTime mono{};
  WallTime wall{};

  [[nodiscard]] WallTime wall_at(MonoTime time) const { return wall - (mono - time); }
};

// The report as a log line. Times are UTC.
[[nodiscard]] std::string log_text(const OutageNote& note, const ClockReading& now);
// The report in short form, for the journal.
[[nodiscard]] std::string journal_text(const OutageNote& note);

// "the cloud has been unreachable since 14:02Z (26 min): connection refused": the outage in words,
// for answers that are given without the cloud. "" while the link is connected. Times are UTC, with
// the date unless it is today's.
[[nodiscard]] std::string describe(const Outage& outage, const ClockReading& now);

}  // namespace holdfast::sync::autonomy
