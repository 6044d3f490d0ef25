// How many bytes of large answers may be on their way on one connection: the flow control windows
// of the connection and of its streams (RFC 9113, 5.2).
//
// Answers share the path. What is on its way before a heartbeat's answer delays that answer, so a
// window that suits a fast path makes a slow one unusable: 256 KiB take 16 s at 16 KB/s, and the
// node's lease is not renewed meanwhile. The window therefore follows what is measured. While
// answers arrive, a PING is sent, whose answer waits behind them: if it takes much longer than on
// the idle path, the window shrinks in proportion. If answers arrive so quickly that more would not
// take longer than that, the window grows. The target for the delay is that of LEDBAT (RFC 6817),
// but longer; the window for a rate is that of BBR. The first window is small, because it is on its
// way before anything is known of the path: 16 KiB take a second at 16 KB/s.
//
// An answer to a PING that comes at once shows nothing: a TLS record of 16 KiB arrives as a whole,
// and if it was the whole window, nothing is on its way then.
//
// The streams of large answers share the window. That of the connection is larger: otherwise large
// answers use it up, and a small one must wait for what they leave.
//
// Pure and single-threaded.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "platform/time.h"

namespace holdfast::http::h2 {

struct ReceiveWindowLimits {
  std::uint32_t first = 16UL * 1024;  // bytes, until something is measured
  std::uint32_t least = 8UL * 1024;
  std::uint32_t most = 16UL * 1024 * 1024;
  // The longest time that answers may delay another one. A heartbeat may take 10 s.
  Duration delay_max = std::chrono::milliseconds(500);
  // From one PING to the next: bytes and time.
  std::size_t unmeasured = 16UL * 1024;
  Duration pause = std::chrono::milliseconds(100);
  // What the rate is measured with, at least: bytes, two of the largest TLS records, of which the
  // first may have begun before the measurement.
  std::size_t sample = 32UL * 1024;
  std::uint32_t reserve = 48UL * 1024;  // bytes of small answers
};

// Tells large answers, and watches that have much to tell, from others.
class AnswerSize {
 public:
  void add(MonoTime now, std::size_t count);
  // Whether more than 4 KiB have arrived in the last ten to twenty seconds.
  [[nodiscard]] bool is_large(MonoTime now) const;

 private:
  static constexpr Duration period = std::chrono::seconds(10);

  MonoTime begin_{};          // of the present period
  std::size_t bytes_ = 0;     // since then
  std::size_t previous_ = 0;  // in the period before
};

class ReceiveWindow {
 public:
  explicit ReceiveWindow(const ReceiveWindowLimits& limits = {});

  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  // The connection's own window.
  [[nodiscard]] std::uint32_t of_connection() const { return bytes_ + limits_.reserve; }
  // The window of each stream, if so many of them are large.
  [[nodiscard]] std::uint32_t of_stream(std::size_t large) const;

  // `count` bytes of answers have arrived; 0: the connection has been set up. Returns whether a
  // PING is to be sent now. There is one at a time.
  [[nodiscard]] bool received(MonoTime now, std::size_t count);
  // The PING was answered. Ignored if there is none.
  void answered(MonoTime now);

 private:
  // If a PING took, or takes already, more than delay_max longer than on the idle path: makes the
  // window so small that it will not.
  void shrink(Duration round_trip);
  // Adds `count` bytes that arrived to the sample. At its end, grows the window to what arrives at
  // this rate within a round trip and delay_max, at most to twice its size.
  void sample(MonoTime now, std::size_t count);

  ReceiveWindowLimits limits_;
  std::uint32_t bytes_;
  std::size_t unmeasured_ = 0;               // bytes that arrived since the last PING
  std::optional<Duration> idle_round_trip_;  // the shortest one so far
  std::optional<MonoTime> pinged_at_;
  MonoTime next_ping_ = MonoTime::min();
  // When the PING was sent, and the bytes that have arrived since:
  std::uint32_t bytes_then_ = 0;
  std::size_t arrived_ = 0;
  // When bytes arrived that are not in the sample, and those since.
  std::optional<MonoTime> sample_begin_;
  std::size_t sampled_ = 0;
};

// The window of each stream, as the peer knows it. It is adjusted ten times in a second at most,
// and not for small changes, each of which costs a frame.
class StreamWindow {
 public:
  // `whole` is borrowed and must outlive this. No window is larger than `most`.
  StreamWindow(const ReceiveWindow& whole, std::uint32_t most);

  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  // Whether share() may change it now.
  [[nodiscard]] bool is_due(MonoTime now) const { return now >= due_; }
  // So many streams are large. Returns whether the window has changed.
  [[nodiscard]] bool share(MonoTime now, std::size_t large);

 private:
  const ReceiveWindow& whole_;
  std::uint32_t most_;
  std::uint32_t bytes_;
  MonoTime due_ = MonoTime::min();
};

}  // namespace holdfast::http::h2
