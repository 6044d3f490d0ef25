// Interprets the API server's answer to a queued write that is being replayed. Pure.

#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "platform/time.h"

namespace holdfast::sync::autonomy {

enum class ReplayOutcome : std::uint8_t {
  applied,   // done now or by an earlier attempt
  conflict,  // the API server has a newer state; the write is reported and given up
  rejected,  // the API server will never accept it; the write is reported and given up
  retry,     // the server is overloaded or our credentials failed: the replay pauses
  wait,      // retry this write after replay_backoff(); others continue meanwhile
};

[[nodiscard]] std::string_view to_string(ReplayOutcome outcome);

struct ReplayAnswer {
  std::string_view verb;  // the HTTP method; GET reads the object before its status is written
  int http_status = 200;
  std::string_view body = {};
  bool maybe_sent = false;         // an earlier attempt may have reached the server
  int refusals = 0;                // how often this write got `wait` before
  std::string_view resource = {};  // "pods"
};

[[nodiscard]] ReplayOutcome outcome_of_answer(const ReplayAnswer& answer);

// Whether the API server may have executed a write in spite of this HTTP status.
[[nodiscard]] bool may_have_arrived(int http_status);

// How long a write waits after its n-th `wait`; `refusals` is n, from 1 on.
[[nodiscard]] Duration replay_backoff(int refusals);

// Whether a write that the server does not take for the n-th time (no answer, 401, 429, 503) ends
// the drain, because the next ones would fail as well. From the second time on it may be the cause
// itself: an admission webhook that hangs, say. Then it waits by itself.
[[nodiscard]] constexpr bool ends_drain(int failures) { return failures == 1; }

// The time that one request of a write may take that was not answered `failures` times: 10 s,
// doubled with each of them up to 60 s, after which an API server breaks off a request itself
// (--request-timeout). A large object on a slow line needs that long.
[[nodiscard]] Duration replay_request_limit(int failures);

// How many writes are sent at the same time. Writes that share a slow line could all take too long,
// and each time anew, so that none of them ever arrived. Follows TCP's congestion avoidance (RFC
// 5681): one more after as many quick answers in a row as there are writes, half as many after each
// request that was not answered in time or found an overloaded server.
class ReplayWidth {
 public:
  // `most` at first.
  explicit ReplayWidth(std::size_t most) : value_(most), most_(most) {}

  [[nodiscard]] std::size_t value() const { return value_; }
  // A request was answered after that time.
  void note_answer(Duration took);
  void note_congestion();

 private:
  std::size_t value_;
  std::size_t most_;
  std::size_t quick_ = 0;  // answers since the last change
};

// The pause after the n-th drain in a row that failed while the link is connected; from 1 on.
[[nodiscard]] Duration drain_backoff(int failed);

// How long an API server keeps an event: the default of kube-apiserver's --event-ttl.
inline constexpr Duration event_lifetime = std::chrono::hours(1);

// Whether a queued write of that resource is too old to be sent: an event that the API server would
// have deleted by now. `age` is the time since it was queued.
[[nodiscard]] bool is_expired(std::string_view resource, Duration age);

}  // namespace holdfast::sync::autonomy
