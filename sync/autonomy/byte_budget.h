// What may go over the uplink: bytes per second, of all classes of traffic together and of single
// ones. Token buckets with debts: what a request costs is known only afterwards, so it is sent when
// nothing is owed, and the next one waits until the debt is paid. Several may be under way at once,
// as long as what they are expected to cost is there. Heartbeats are exempt: they neither wait nor
// cost. Pure.

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::sync {

enum class UplinkClass : std::uint8_t {
  heartbeat,  // the node's lease and its status
  relist,     // lists and watches of what is cached
  reads,      // of local clients, passed through
  writes,     // of local clients and out of the outbox, events excepted
  events,     // likewise
};
inline constexpr std::size_t uplink_classes = 5;

[[nodiscard]] std::string_view to_string(UplinkClass traffic);

// Of a request: its method, its path, and whether it is the agent's own.
[[nodiscard]] UplinkClass class_of(std::string_view method, std::string_view path, bool own);

struct ByteRates {
  std::int64_t total = 0;  // bytes per second; 0: no limit
  std::array<std::int64_t, uplink_classes> classes{};

  bool operator==(const ByteRates&) const = default;
};

// The values of --uplink-budget: "64KiB/s" for all traffic, "relist=32KiB/s" for one class. Units:
// B, kB, KiB, MB, MiB; "/s" may be left out. Errors: invalid, naming the text (no rate, no such
// class, heartbeat, twice the same, less than 256 bytes a second).
[[nodiscard]] Result<ByteRates> parse_byte_rates(const std::vector<std::string>& texts);

class ByteBudget {
 public:
  // After a quiet time as much as comes in `burst` may go at once.
  explicit ByteBudget(const ByteRates& rates, MonoTime now,
                      Duration burst = std::chrono::seconds(10));

  // When a request of that class may be sent; `now`, or earlier, for at once; max(): not before one
  // of those that are under way has ended.
  [[nodiscard]] MonoTime ready_at(UplinkClass traffic, MonoTime now) const;

  // A request begins that is expected to cost so much, or it has ended: what it really cost is
  // spent meanwhile.
  void reserve(UplinkClass traffic, std::uint64_t bytes);
  void release(UplinkClass traffic, std::uint64_t bytes);

  // Bytes that were sent or received. `now` must not run backwards.
  void spend(UplinkClass traffic, std::uint64_t bytes, MonoTime now);

 private:
  struct Bucket {
    double rate = 0;      // 0: no limit
    double level = 0;     // below zero: owed
    MonoTime at{};        // of the level
    double reserved = 0;  // of the level, for what is under way

    [[nodiscard]] double level_at(MonoTime now, Duration burst) const;
    [[nodiscard]] MonoTime ready_at(MonoTime now, Duration burst) const;
    void take(double bytes, MonoTime now, Duration burst);
  };

  Duration burst_;
  Bucket total_;
  std::array<Bucket, uplink_classes> classes_{};
};

}  // namespace holdfast::sync
