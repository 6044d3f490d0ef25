// Limits the bytes per second on the uplink, for all traffic together and for each class of
// traffic.
//
// These are token buckets that may go below zero. The cost of a request is known only afterwards,
// so a request may start as soon as its buckets are above zero, and the next one waits until they
// are again. Several requests may be in flight at once as long as the buckets cover their expected
// costs. Heartbeats are exempt: they never wait and cost nothing. Pure: the caller passes the time.

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"
#include "platform/token_bucket.h"

namespace holdfast::sync::autonomy {

enum class UplinkClass : std::uint8_t {
  heartbeat,  // the node's lease and writes of its status
  relist,     // the agent's own lists and watches for the cache
  reads,      // reads of local clients that are passed through
  writes,     // writes of local clients and of the outbox, except events
  events,     // writes of events, of local clients and of the outbox
};
inline constexpr std::size_t uplink_classes = 5;

[[nodiscard]] std::string_view to_string(UplinkClass traffic);

// The class of a request. `own` is true for the agent's own requests.
[[nodiscard]] UplinkClass class_of(std::string_view method, std::string_view path, bool own);

struct ByteRates {
  std::int64_t total = 0;  // bytes per second for all classes together; 0: no limit
  std::array<std::int64_t, uplink_classes> classes{};

  bool operator==(const ByteRates&) const = default;
};

// Parses the values of --uplink-budget: "64KiB/s" limits all traffic, "relist=32KiB/s" one class.
// Units: B, kB, KiB, MB, MiB; "/s" is optional. Errors: invalid, quoting the value (not a rate, an
// unknown class, the heartbeat class, a class given twice, less than 256 bytes per second, more
// than 1 TiB per second).
[[nodiscard]] Result<ByteRates> parse_byte_rates(const std::vector<std::string>& texts);

class ByteBudget {
 public:
  // Each bucket holds at most the bytes of `burst` at its rate, and starts full.
  explicit ByteBudget(const ByteRates& rates, MonoTime now,
                      Duration burst = std::chrono::seconds(10));

  // The time from which a request of that class may be sent. A time that is not after `now` means
  // at once; MonoTime::max() means not before a request that is in flight has ended.
  [[nodiscard]] MonoTime ready_at(UplinkClass traffic, MonoTime now) const;

  // Call reserve() with the expected cost when a request starts, and release() with the same number
  // when it ends. Its real cost is charged by spend() in between.
  void reserve(UplinkClass traffic, std::uint64_t bytes);
  void release(UplinkClass traffic, std::uint64_t bytes);

  // Charges bytes that were sent or received. `now` must not run backwards.
  void spend(UplinkClass traffic, std::uint64_t bytes, MonoTime now);

 private:
  struct Bucket {
    std::optional<TokenBucket> tokens;  // of one byte; none: no limit
    double reserved = 0;                // expected bytes of the requests in flight

    [[nodiscard]] MonoTime ready_at(MonoTime now) const;
  };

  Bucket total_;
  std::array<Bucket, uplink_classes> classes_{};
};

}  // namespace holdfast::sync::autonomy
