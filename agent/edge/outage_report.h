// Tells people of outages of the cloud: in the log, as a warning with the reason and what to do,
// again at growing intervals, and a line when the cloud is back; and in the journal, one record
// when an outage begins and one when it ends. What is said and when is decided by sync::Outage.
//
// Journal records are of kind "outage" and about "cloud". The detail is an object: `begin` and
// `end` (RFC 3339; `end` only in the record of the end), `fault`, `reason`, and at the end
// `seconds`, `replayed` and `refused` (writes).
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>

#include "agent/edge/ledger.h"
#include "agent/edge/uplink.h"

namespace holdfast::agent {

class OutageReport {
 public:
  OutageReport(Uplink& uplink, Ledger& ledger, const Clock& clock);

  // Takes up the outage that an earlier run of the agent did not see the end of, by the journal.
  void resume();
  // Runs until cancelled.
  asio::awaitable<void> run();

 private:
  void tell(const sync::OutageNote& note);
  void record(const sync::OutageNote& note, const sync::ClockReading& now);

  Uplink& uplink_;
  Ledger& ledger_;
  const Clock& clock_;
};

}  // namespace holdfast::agent
