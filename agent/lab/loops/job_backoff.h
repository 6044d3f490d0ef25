// The back-off of a Job: how long it waits with new pods after pods failed.

#pragma once

#include <cstdint>

#include "agent/lab/loops/replicas.h"
#include "platform/time.h"

namespace holdfast::agent::lab {

struct JobBackoff {
  std::int64_t failures = 0;  // since the last success
  WallTime last_failure{};    // of the newest of them

  bool operator==(const JobBackoff&) const = default;
};

// The record after more pods ended. They have not been counted before.
[[nodiscard]] JobBackoff with_ended(const JobBackoff& before, const Objects& succeeded,
                                    const Objects& failed);

// How long to wait until the next pod may be created: 10 s after the first failure, twice as long
// after each further one, at most 10 minutes; 0 if the time has passed.
[[nodiscard]] Duration remaining(const JobBackoff& record, WallTime now);

// When the pod ended: its last container, or as its Ready condition or its deletion says, or else
// its creation.
[[nodiscard]] WallTime ended_at(const boost::json::object& pod);

}  // namespace holdfast::agent::lab
