// Turns the scheduler's RecordEvent actions into Events of events.k8s.io/v1, as client-go's newer
// recorder does.
// A repeated event of a pod is one Event object with a series: the second occurrence starts the
// series, and its count is then written at most once per `refresh`. After `quiet` without a
// repetition the next occurrence becomes a new Event. Unlike upstream, an event with another note
// is another Event, so that no Event has an outdated note.
//
// Pure: it sends nothing.

#pragma once

#include <optional>
#include <string>

#include "platform/time.h"
#include "sync/events/event.h"
#include "sync/events/lru_map.h"
#include "sync/schedule/actions.h"

namespace holdfast::sync::events {

// client-go's numbers.
struct SeriesLimits {
  std::size_t remembered = 4096;             // series; the least recently used go
  Duration quiet = std::chrono::minutes(6);  // pause that ends a series
  Duration refresh = std::chrono::minutes(30);
};

class PodEvents {
 public:
  // `controller` is the scheduler's name, `instance` identifies this replica.
  PodEvents(std::string controller, std::string instance, SeriesLimits limits = {});

  // Returns the request to send, or nothing if the occurrence is only counted for now.
  [[nodiscard]] std::optional<EventWrite> record(MonoTime now, WallTime wall,
                                                 const schedule::RecordEvent& event);

 private:
  struct Series {
    std::string name;  // of the Event object; empty before the first occurrence
    int count = 0;
    MonoTime last;
    MonoTime written;
  };

  std::string controller_;
  std::string instance_;
  SeriesLimits limits_;
  LruMap<Series> series_;
  std::uint64_t sequence_ = 0;
};

}  // namespace holdfast::sync::events
