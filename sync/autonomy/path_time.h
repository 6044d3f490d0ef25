// How long a heartbeat may take on the path to an API server, from how long earlier ones took.
//
// Measured as TCP measures its retransmission timeout (RFC 6298, section 2): a smoothed answer time
// and its smoothed deviation. From the second timeout in a row on, each one doubles the limit until
// an answer is measured again, so that a path is found whose answers take longer than the first
// limit. The first one does so only before the first answer, so that two of them show a fault of a
// quick path soon. Pure.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "platform/time.h"

namespace holdfast::sync::autonomy {

// The kubelet's own limit for a heartbeat, its nodeStatusUpdateFrequency
// (cmd/kubelet/app/server.go).
inline constexpr Duration heartbeat_limit_max = std::chrono::seconds(10);

// A path whose heartbeats take so long leads to a far site, or over a narrow or busy line. In a
// local network they take a few milliseconds.
inline constexpr Duration slow_from = std::chrono::milliseconds(50);

// Whether a server that has sent so many bytes of other answers while a request waited is busy with
// them, and not silent. A few events of watches are less.
[[nodiscard]] constexpr bool is_busy(std::uint64_t received_meanwhile) {
  return received_meanwhile >= 8UL << 10;
}

// How long the first answer of a server may take: it cannot be told yet whether the server is far
// or dead. One of several is given up after the time of three round trips to a satellite. The only
// one has all the time that there is, because the next attempt would have to open a connection
// again.
[[nodiscard]] Duration first_answer_limit(std::size_t servers);

class PathTime {
 public:
  // `least` is the limit on a quick path. It is positive. Until the first answer the limit begins
  // with `unmeasured`, if that is longer. `late_from`: see answers_late().
  explicit PathTime(Duration least, Duration unmeasured = {},
                    Duration late_from = heartbeat_limit_max);

  // An answer took so long, with the time for a new connection if it needed one.
  void answered(Duration took);
  // There was no answer within limit().
  void timed_out();

  // The limit for the next heartbeat: at least five times the smoothed time, because it may need a
  // new connection, which takes three round trips more (TCP and TLS 1.2); at most ten times `least`
  // and heartbeat_limit_max. It is never below `least`.
  [[nodiscard]] Duration limit() const;
  // Whether it says something about the path that another request got no answer within `given`. It
  // says nothing if even a heartbeat may take longer; then a heartbeat must tell.
  [[nodiscard]] bool is_evidence(Duration given) const { return given >= limit(); }
  // Whether the smoothed time is slow_from or more.
  [[nodiscard]] bool is_slow() const { return smoothed_ && *smoothed_ >= slow_from; }
  // Whether the last two answers took `late_from` or longer. One alone may have needed a new
  // connection.
  [[nodiscard]] bool answers_late() const { return late_answers_ >= 2; }
  // The smoothed answer time; std::nullopt: none was measured yet.
  [[nodiscard]] std::optional<Duration> smoothed() const { return smoothed_; }

 private:
  Duration least_;
  Duration most_;
  Duration unmeasured_;
  Duration late_from_;
  std::optional<Duration> smoothed_;
  Duration deviation_{};
  int timeouts_ = 0;      // since the last answer
  int late_answers_ = 0;  // since the last one in time; at most 2
};

}  // namespace holdfast::sync::autonomy
