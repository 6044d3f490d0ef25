// Judges the cloud's answer to a write that was accepted while it was away.

#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "platform/time.h"

namespace holdfast::sync {

enum class Verdict : std::uint8_t {
  applied,   // done, or done before
  conflict,  // the cloud has something newer; ours is reported and given up
  rejected,  // the cloud will never take it
  retry,     // not now
};

[[nodiscard]] std::string_view to_string(Verdict verdict);

// `verb` is the HTTP method. `maybe_sent`: an earlier attempt may have arrived. `attempts` counts
// this one: a write that fails over and over must not hold up all others for ever.
[[nodiscard]] Verdict judge_replay(std::string_view verb, int http_status, bool maybe_sent,
                                   int attempts);

// How long the cloud keeps an event: kube-apiserver's own --event-ttl.
inline constexpr Duration event_lifetime = std::chrono::hours(1);

// Whether a write of that resource, which has waited for `age`, is not worth sending any more:
// events older than the cloud would have kept them.
[[nodiscard]] bool is_expired(std::string_view resource, Duration age);

}  // namespace holdfast::sync
