// Reports outages of the cloud. In the log: a warning with the reason and advice, repeated at
// growing intervals, and a line when the cloud is back. In the journal: a record when an outage
// begins and one when it ends. sync::autonomy::Outage decides what is reported and when.
//
// The journal records have kind "outage" and subject "cloud". Their detail is an object: `begin`
// and `end` (RFC 3339; `end` only in the record of the end), `fault`, `reason`, and at the end
// `seconds`, `replayed` and `refused` (numbers of writes).
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>

#include "agent/edge/forward/uplink.h"
#include "agent/edge/offline/offline_store.h"

namespace holdfast::agent {

class OutageReport {
 public:
  OutageReport(Uplink& uplink, OfflineStore& offline_store, const Clock& clock);

  // Continues an outage that, by the journal, had not ended when an earlier run of the agent
  // stopped.
  void resume();
  // Runs until cancelled.
  asio::awaitable<void> run();

 private:
  void report(const sync::autonomy::OutageNote& note);
  void record(const sync::autonomy::OutageNote& note, const sync::autonomy::ClockReading& now);

  Uplink& uplink_;
  OfflineStore& offline_store_;
  const Clock& clock_;
};

}  // namespace holdfast::agent
