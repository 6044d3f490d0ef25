// Decides what the cache need not keep any longer, and when a file may be made smaller. Pure.
//
// Whatever is dropped can be fetched again, so this is for a connected agent only. Two clocks must
// agree before a scope counts as unused for days: the calendar, which jumps, and the time that this
// run has lasted.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "platform/time.h"
#include "sync/autonomy/references.h"

namespace holdfast::sync {

using namespace std::chrono_literals;

struct HousekeepingLimits {
  Duration unused = 7 * 24h;  // the node's own questions
  Duration foreign_unused =
      24h;                      // of a caller with a token: with his next one he is another caller
  Duration events_unused = 1h;  // kube-apiserver itself keeps events no longer
  Duration orphaned = 1h;       // a Secret or ConfigMap by name that no pod of the node uses
  Duration released = 5min;     // the same, for any object that the kubelet alone has asked for
  Duration gone = 1min;         // an object by name that no pod uses and the cloud does not have
  Duration settled = 1h;        // in this run: what was asked for so lately stays
  // Free pages are given back when there are this many and they are a quarter of the file, so many
  // at a time, after so long without a local request.
  std::int64_t trim_from_pages = 256;
  int trim_pages = 16;
  Duration trim_idle = 1s;
};

// What is known of a scope when it is judged.
struct ScopeUse {
  std::string resource = {};
  std::string namespace_name = {};
  std::string name = {};           // of the only object it can hold; empty: many
  bool foreign = false;            // belongs to a caller with credentials of his own
  bool watched = false;            // somebody has it open
  bool owes = false;               // it shows writes that the cloud does not know of
  bool gone = false;               // the cloud said that there is no such object
  bool for_pods_only = false;      // the kubelet alone has asked for it, in this run
  Duration idle_in_run = {};       // since it was asked for, or since the agent's start
  Duration idle_by_calendar = {};  // since it was ever asked for; negative: the calendar jumped

  [[nodiscard]] bool holds_one() const { return !name.empty(); }
};

enum class Leftover : std::uint8_t { no, unused, foreign, events, orphaned, gone };

[[nodiscard]] std::string_view to_string(Leftover leftover);

// Whether a scope is to be dropped, and why. `references` of all pods of the node, and of the
// claims that they name; null while not all of these are known.
[[nodiscard]] Leftover judge_scope(const ScopeUse& use, const NeededObjects* references,
                                   const HousekeepingLimits& limits);

struct FilePages {
  std::int64_t total = 0;
  std::int64_t free = 0;
};

// How many pages to give back now; 0: none.
[[nodiscard]] int trim_step(const FilePages& pages, Duration idle,
                            const HousekeepingLimits& limits);

}  // namespace holdfast::sync
