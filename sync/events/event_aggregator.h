// Turns occurrences into requests for Event objects, as client-go's event recorder does.
//
// A repeated event of the same object patches the count and the time of one Event object. Ten
// events of an object that differ only in their message, without a pause of ten minutes between
// them, are combined: the later ones become one Event, "(combined from similar events): ...". A
// token bucket for each object limits how many events are written about it.
//
// Pure: it sends nothing.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "platform/time.h"
#include "platform/token_bucket.h"
#include "sync/events/event.h"
#include "sync/events/lru_map.h"
#include "sync/lifecycle/effects.h"

namespace holdfast::sync::events {

// client-go's numbers.
struct EventLimits {
  std::size_t remembered = 4096;                // entries of each map; the least recently used go
  double burst = 25;                            // events in a row about one object
  Duration refill = std::chrono::seconds(300);  // until one more is allowed
  std::size_t similar = 10;  // the n-th different message of one kind is combined with later ones
  Duration similar_interval = std::chrono::seconds(600);  // without events, then counting restarts
};

class EventAggregator {
 public:
  explicit EventAggregator(EventLimits limits = {});

  // Returns the request to send, or nothing if the object has used up its rate limit.
  [[nodiscard]] std::optional<EventWrite> record(MonoTime now, WallTime wall,
                                                 const lifecycle::RecordEvent& event);

  // Call when the write failed: the next event of this kind then creates a new Event object.
  void forget(const EventWrite& write) { seen_.erase(write.key); }

 private:
  struct Similar {
    std::set<std::string> messages;
    MonoTime last;
  };
  struct Seen {
    std::string name;  // of the Event object in the API
    // Time of the first occurrence, RFC 3339.
    std::string first;
    int count = 0;
  };
  [[nodiscard]] bool is_combined(MonoTime now, const std::string& kind, const std::string& message);
  [[nodiscard]] bool may_write(MonoTime now, const std::string& object);

  EventLimits limits_;
  LruMap<Similar> similar_;
  LruMap<Seen> seen_;
  LruMap<std::optional<TokenBucket>> buckets_;  // by object
  std::uint64_t sequence_ = 0;
};

}  // namespace holdfast::sync::events
