// Turns what happened into Event objects, and repetitions into a count on the first one.
//
// As client-go's recorder: the same event of the same object is one Event whose count and time are
// patched; an object that is talkative is held back.

#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>

#include "agent/client/api_client.h"
#include "platform/result.h"
#include "sync/lifecycle/actions.h"

namespace holdfast::agent {

struct EventLimits {
  std::size_t remembered = 4096;                // events and objects each
  double burst = 25;                            // events at once about one object
  Duration refill = std::chrono::seconds(300);  // for each one more
};

class EventBook {
 public:
  explicit EventBook(EventLimits limits = {}) : limits_(limits) {}

  // The request that records it, or nothing when the object was too talkative.
  [[nodiscard]] std::optional<ApiRequest> record(MonoTime now, WallTime wall,
                                                 const sync::lifecycle::RecordEvent& event);

  // Recording it failed: next time it is a new one.
  void forget(const sync::lifecycle::RecordEvent& event);

 private:
  struct Entry {
    std::string key;
    std::string name;  // of the Event object
    int count = 0;
  };
  struct Talk {
    double tokens = 0;
    MonoTime at;
  };

  [[nodiscard]] bool may_talk(MonoTime now, const std::string& object);

  EventLimits limits_;
  std::list<Entry> entries_;  // most recent first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
  std::unordered_map<std::string, Talk> talks_;
  std::uint64_t sequence_ = 0;
};

}  // namespace holdfast::agent
