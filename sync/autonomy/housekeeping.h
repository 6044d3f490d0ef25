// Decides which cached scopes to drop, and when to shrink the database file. Pure.
//
// Dropped data can be fetched again only while the agent is connected, so the caller does this only
// then. A scope counts as unused for days only if two clocks agree: the wall clock, which may jump,
// and the time since the agent started.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "platform/time.h"
#include "sync/autonomy/references.h"

namespace holdfast::sync::autonomy {

using namespace std::chrono_literals;

struct HousekeepingLimits {
  Duration unused = 7 * 24h;  // a scope that the node itself asked for
  // A scope of a caller with a token of its own: with its next token it counts as another caller.
  Duration foreign_unused = 24h;
  Duration events_unused = 1h;  // kube-apiserver itself keeps events no longer
  Duration orphaned = 1h;  // a Secret or ConfigMap, fetched by name, that no pod of the node uses
  // Any object, fetched by name, that only the kubelet asked for and no pod uses.
  Duration released = 5min;
  // An object, fetched by name, that no pod uses and the API server does not have.
  Duration gone = 1min;
  // A scope that was asked for within this time, in this run, is not dropped as unused, foreign or
  // events.
  Duration settled = 1h;
  // Free pages of the database file are released, `trim_pages` at a time, when there are at least
  // `trim_from_pages` of them, they are a quarter of the file, and no local request arrived for
  // `trim_idle`.
  std::int64_t trim_from_pages = 256;
  int trim_pages = 16;
  Duration trim_idle = 1s;
};

// What drop_reason_of() needs to know about a scope.
struct ScopeUse {
  std::string resource = {};
  std::string namespace_name = {};
  std::string name = {};  // name of the one object that the scope can hold; empty: it can hold many
  bool foreign = false;   // belongs to a caller that has credentials of its own
  bool watched = false;   // a client has a watch open
  bool has_unsent_writes = false;  // contains local writes that have not reached the API server
  bool gone = false;               // the API server answered that the object does not exist
  bool for_pods_only = false;      // in this run, only the kubelet asked for it
  Duration idle_in_run = {};       // since the last request for it, or since the agent started
  // Since the last request by the wall clock; negative: that clock jumped.
  Duration idle_by_calendar = {};

  [[nodiscard]] bool holds_one() const { return !name.empty(); }
};

// Why a scope is dropped; `no`: it is kept.
enum class DropReason : std::uint8_t { no, unused, foreign, events, orphaned, gone };

[[nodiscard]] std::string_view to_string(DropReason reason);

// Whether to drop a scope, and why. `references` are the objects that the pods of the node and
// their claims name; null while not all of these are known.
[[nodiscard]] DropReason drop_reason_of(const ScopeUse& use, const NeededObjects* references,
                                        const HousekeepingLimits& limits);

struct FilePages {
  std::int64_t total = 0;
  std::int64_t free = 0;
};

// The number of pages to release now; 0: none.
[[nodiscard]] int trim_step(const FilePages& pages, Duration idle,
                            const HousekeepingLimits& limits);

}  // namespace holdfast::sync::autonomy
