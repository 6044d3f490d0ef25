// Turns what happened into Event objects, as client-go's recorder does.
//
// The same event of the same object is one Event whose count and time are patched. When ten events
// of an object differ in nothing but their message within ten minutes, the rest of them become one,
// "(combined from similar events): ...". An object that is too talkative for that is held back.
//
// Pure: it sends nothing. Threading: the loop's thread only.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "agent/client/api_client.h"
#include "agent/cloud/recent.h"
#include "platform/result.h"
#include "sync/lifecycle/actions.h"

namespace holdfast::agent {

// client-go's numbers.
struct EventLimits {
  std::size_t remembered = 4096;                // of each kind of memory, the most recently used
  double burst = 25;                            // events at once about one object
  Duration refill = std::chrono::seconds(300);  // for each one more
  std::size_t similar = 10;  // the so manyth message of one kind is combined with what follows
  Duration similar_interval = std::chrono::seconds(600);  // of quiet, and they are counted anew
};

// What records an event.
struct EventWrite {
  ApiRequest request;
  // When the request is answered with "not found": the Event has expired, make it again.
  std::optional<ApiRequest> instead;
  std::string key;  // for forget()
};

class EventBook {
 public:
  explicit EventBook(EventLimits limits = {});

  // How to record it, or nothing when its object was too talkative.
  [[nodiscard]] std::optional<EventWrite> record(MonoTime now, WallTime wall,
                                                 const sync::lifecycle::RecordEvent& event);

  // Recording failed: the next one like it is a new one.
  void forget(const EventWrite& write) { seen_.erase(write.key); }

 private:
  struct Similar {
    std::set<std::string> messages;
    MonoTime last;
  };
  struct Seen {
    std::string name;  // of the Event object
    std::string first;
    int count = 0;
  };
  struct Talk {
    double tokens = 0;
    MonoTime at = MonoTime::min();
  };

  [[nodiscard]] bool is_combined(MonoTime now, const std::string& kind, const std::string& message);
  [[nodiscard]] bool may_talk(MonoTime now, const std::string& object);

  EventLimits limits_;
  Recent<Similar> similar_;
  Recent<Seen> seen_;
  Recent<Talk> talks_;
  std::uint64_t sequence_ = 0;
};

}  // namespace holdfast::agent
