// How many bytes of all answers together may be on their way on one connection: its flow control
// window (RFC 9113, 5.2).
//
// Answers share the path. What is on its way before a heartbeat's answer delays that answer, so a
// window that suits a fast path makes a slow one unusable: 256 KiB take 16 s at 16 KB/s, and the
// node's lease is not renewed meanwhile. The window therefore follows what is measured: while
// answers arrive, a PING is sent, whose answer waits behind them. If it takes much longer than on
// the idle path, the window shrinks in proportion; if it does not, and the window was used, the
// window is doubled. gRPC grows its windows in this way; the target for the delay is that of LEDBAT
// (RFC 6817), but longer.
//
// Pure and single-threaded.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "platform/time.h"

namespace holdfast::http::h2 {

struct ReceiveWindowLimits {
  std::uint32_t first = 65'535;  // bytes, until something is measured; HTTP/2's initial window
  std::uint32_t least = 8UL * 1024;
  std::uint32_t most = 16UL * 1024 * 1024;
  // The longest time that answers may delay another one. A heartbeat may take 10 s.
  Duration delay_max = std::chrono::milliseconds(500);
  // From one measurement to the next: bytes, and the time unless the window has just grown.
  std::size_t unmeasured = 16UL * 1024;
  Duration pause = std::chrono::milliseconds(100);
};

class ReceiveWindow {
 public:
  explicit ReceiveWindow(const ReceiveWindowLimits& limits = {});

  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }

  // `count` bytes of answers have arrived; 0: the connection has been set up. Returns whether a
  // PING is to be sent now. There is one at a time.
  [[nodiscard]] bool received(MonoTime now, std::size_t count);
  // The PING was answered. Ignored if there is none.
  void answered(MonoTime now);

 private:
  // If a PING took, or takes already, more than delay_max longer than on the idle path: makes the
  // window so small that it will not.
  void shrink(Duration round_trip);

  ReceiveWindowLimits limits_;
  std::uint32_t bytes_;
  std::size_t unmeasured_ = 0;               // bytes that arrived since the last measurement
  std::optional<Duration> idle_round_trip_;  // the shortest one so far
  std::optional<MonoTime> pinged_at_;
  MonoTime next_ping_ = MonoTime::min();
  // When the PING was sent, and since then:
  std::uint32_t bytes_then_ = 0;
  std::size_t arrived_ = 0;
};

}  // namespace holdfast::http::h2
