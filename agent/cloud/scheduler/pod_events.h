// Turns what the scheduler tells about pods into Events of events.k8s.io/v1, as client-go's newer
// recorder does.
//
// The same event of the same pod is one Event: the second one makes it a series, which counts; the
// count is written then and at most every so often. After a quiet time it is a new one. Other than
// upstream, another note makes another Event: nothing is told that is not true any more.
//
// Pure: it sends nothing. Threading: the loop's thread only.

#pragma once

#include <optional>
#include <string>

#include "agent/cloud/event_book.h"
#include "agent/cloud/recent.h"
#include "sync/schedule/actions.h"

namespace holdfast::agent {

// client-go's numbers.
struct SeriesLimits {
  std::size_t remembered = 4096;             // the most recently used
  Duration quiet = std::chrono::minutes(6);  // that ends a series
  Duration refresh = std::chrono::minutes(30);
};

class PodEvents {
 public:
  // `controller` is the scheduler's name, `instance` tells its replicas apart.
  PodEvents(std::string controller, std::string instance, SeriesLimits limits = {});

  // How to record it, or nothing when it is only counted for now.
  [[nodiscard]] std::optional<EventWrite> record(MonoTime now, WallTime wall,
                                                 const sync::schedule::RecordEvent& event);

 private:
  struct Series {
    std::string name;  // of the Event object; empty: none yet
    int count = 0;
    MonoTime last;
    MonoTime written;
  };

  std::string controller_;
  std::string instance_;
  SeriesLimits limits_;
  Recent<Series> series_;
  std::uint64_t sequence_ = 0;
};

}  // namespace holdfast::agent
