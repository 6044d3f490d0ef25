// Decides what answers a read of a local client: the API server or the cache.

#pragma once

#include <chrono>
#include <cstdint>

#include "platform/time.h"
#include "sync/objects/version.h"

namespace holdfast::sync::autonomy {

// How long a read waits for a first list, and that for a client who gets the same list: as long as
// an API server works on a request (its --request-timeout).
inline constexpr Duration first_list_limit = std::chrono::minutes(1);

// Whether a list is worth waiting for, after so long a wait. `is_delayed`: lists wait for the byte
// budget, which may take long.
[[nodiscard]] bool is_worth_waiting(bool is_under_way, bool is_delayed, Duration waited);

// What is wanted whole but may come in pieces, as long as it moves, takes at most as long as an API
// server works on a request: it holds memory that others need.
inline constexpr Duration whole_answer_time_max = std::chrono::minutes(1);
// After which time the part of an answer that has arrived is passed on, although all of it is
// wanted first, if its request may take `limit`: an answer that is still moving when three quarters
// of that are over is better than none. At least 5 s.
[[nodiscard]] Duration whole_answer_time(Duration limit);

// What the decision depends on.
struct ReadFacts {
  // The request.
  bool is_watch = false;
  bool wants_newest = false;          // the newest state, which only the API server knows
  bool wants_initial_events = false;  // a watch that begins with the objects that exist
  objects::Version version = 0;       // its resourceVersion; 0: none, or any

  // The scope that would answer it.
  bool has_scope = false;
  bool is_complete = false;             // it has a complete list
  bool is_arriving = false;             // its list is_worth_waiting()
  bool is_large = false;                // its list does not fit into memory, so it takes long
  bool learns_changes = true;           // it is not refused, and not fetched by name
  bool is_healthy = true;               // it can be refreshed
  bool reaches_version = true;          // its history of events reaches back to `version`
  objects::Version server_version = 0;  // the API server's state that it has seen at least

  // The link, and what was done for this request so far.
  bool link_allows_reads = false;
  bool answers_late = false;  // even a heartbeat takes longer than a read that the cache can answer
  bool was_asked = false;     // the API server, without an answer
  bool has_waited = false;  // for a complete list, as long as a read waits before the cache answers
};

enum class ReadSource : std::uint8_t {
  cache,
  cloud,         // the cache cannot answer, or not as well
  cloud_before,  // the cache answers after a short while, if the API server does not
  wait,          // for a complete list of the scope
  nothing,       // neither has an answer: 503
};

// To be asked again after a request to the API server without an answer, and after waiting. It says
// `wait` as often as it is asked while a list is arriving.
[[nodiscard]] ReadSource source_of(const ReadFacts& facts);

}  // namespace holdfast::sync::autonomy
