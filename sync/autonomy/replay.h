// Judges the cloud's answer to a write that was accepted while it was away.

#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "platform/time.h"

namespace holdfast::sync {

enum class ReplayOutcome : std::uint8_t {
  applied,   // done, or done before
  conflict,  // the cloud has something newer; ours is reported and given up
  rejected,  // the cloud will never take it
  retry,     // the server or our credentials are the reason: nothing is sent for now
  wait,      // this write alone is tried again, after replay_backoff(); others go on meanwhile
};

[[nodiscard]] std::string_view to_string(ReplayOutcome outcome);

struct ReplayAnswer {
  std::string_view verb;  // the HTTP method; GET: of the object whose status is to be written
  int http_status = 200;
  std::string_view body = {};
  bool maybe_sent = false;         // an earlier attempt may have arrived
  int refusals = 0;                // how often this write was told to wait before
  std::string_view resource = {};  // "pods"
};

[[nodiscard]] ReplayOutcome outcome_of_answer(const ReplayAnswer& answer);

// Whether a write that was answered so may have been carried out all the same.
[[nodiscard]] bool may_have_arrived(int http_status);

// How long a write waits that was told to for the `refusals`-th time, from 1 on.
[[nodiscard]] Duration replay_backoff(int refusals);

// How long the cloud keeps an event: kube-apiserver's own --event-ttl.
inline constexpr Duration event_lifetime = std::chrono::hours(1);

// Whether a write of that resource, which has waited for `age`, is not worth sending any more:
// events older than the cloud would have kept them.
[[nodiscard]] bool is_expired(std::string_view resource, Duration age);

}  // namespace holdfast::sync
