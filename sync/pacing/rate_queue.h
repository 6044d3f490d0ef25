// Names waiting for their turn at a limited rate: the nodes of one zone that are to be tainted.
//
// A heap by due time plus a guard set. A name stays in the guard set after its turn, which keeps it
// from being queued again until it is removed. Of names due at one instant the first added goes
// first.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "platform/time.h"
#include "sync/pacing/token_bucket.h"

namespace holdfast::sync::pacing {

class RateQueue {
 public:
  // Starts with a full bucket.
  RateQueue(MonoTime now, double rate);

  // Queues `name`, due now. False, and nothing happens, when the guard set has it.
  bool add(MonoTime now, const std::string& name);

  // As add(), but a name that had its turn gets another one. One that waits keeps its place.
  void add_again(MonoTime now, const std::string& name);

  // Takes `name` out, also while it is being handled. Whether the guard set had it.
  bool remove(const std::string& name);

  // Takes `name` out of the guard set only (1.19 and 1.20 did so before adding it again).
  void forget(const std::string& name);

  void clear();

  // The next name to handle; it costs a token. Must be settled with done() or again().
  // A head that is not due yet costs its token all the same, as upstream.
  [[nodiscard]] std::optional<std::string> take(MonoTime now);
  void done(const std::string& name);
  void again(MonoTime now, const std::string& name, Duration wait);

  // Changes the rate; see nlc.md section 11 for what happens to the token. Zero or less stops.
  void set_rate(MonoTime now, double rate);
  [[nodiscard]] const TokenBucket& limiter() const { return bucket_; }

  // When take() may give something; MonoTime::max() when it cannot.
  [[nodiscard]] MonoTime next() const;

  // Waiting names by due time; guarded names in no order.
  [[nodiscard]] std::vector<std::string> waiting() const;
  [[nodiscard]] const std::unordered_set<std::string>& guarded() const { return guard_; }

 private:
  struct Turn {
    MonoTime due;
    std::uint64_t sequence;
    auto operator<=>(const Turn&) const = default;
  };

  void enqueue(MonoTime due, const std::string& name);
  bool dequeue(const std::string& name);

  TokenBucket bucket_;
  std::map<Turn, std::string> heap_;
  std::unordered_map<std::string, Turn> turn_of_;
  std::unordered_set<std::string> guard_;
  std::unordered_set<std::string> handling_;
  std::uint64_t sequence_ = 0;
};

}  // namespace holdfast::sync::pacing
