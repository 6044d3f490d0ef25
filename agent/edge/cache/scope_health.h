// The health of one cached list (scope): whether it can be refreshed. It is independent of the
// health of the link.
//
// A scope becomes unhealthy when a list fails, or a watch is refused or unreadable, and healthy
// when that operation works again. An unhealthy scope is retried as scope_retry says; its old
// content is still served. The link, the outbox and other scopes do not wait for it.
//
// Threading: the loop's thread only.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "platform/metrics.h"
#include "platform/time.h"
#include "sync/watch/reflector.h"
#include "sync/wire/json.h"

namespace holdfast::agent {

class LocalScope;
class ScopeTable;

enum class ScopeFault : std::uint8_t {
  none,
  refused,    // 4xx except 408, 410 and 429: the API server decided
  failed,     // 5xx, 429, an unreadable answer, a broken connection
  too_large,  // an own limit: bytes or objects of a list, event or the cache
  timeout,    // no answer in time
};
inline constexpr std::array all_scope_faults = {ScopeFault::refused, ScopeFault::failed,
                                                ScopeFault::too_large, ScopeFault::timeout};

[[nodiscard]] std::string_view to_string(ScopeFault fault);
// The fault that a failed list or watch shows.
[[nodiscard]] ScopeFault fault_of(const sync::watch::Failure& failure);

// How an unhealthy scope is retried: exponential backoff with full jitter.
struct ScopeRetry {
  sync::pacing::BackoffConfig backoff{.initial = std::chrono::seconds(1),
                                      .most = std::chrono::minutes(5),
                                      .factor = 2.0,
                                      .reset_after = std::chrono::minutes(10)};
  // Least pause after a refusal. A refused scope is listed sooner after an outage, and when a
  // client's own request for it is granted.
  Duration refused_pause = std::chrono::minutes(30);
  // After a list that was too large. It is listed sooner when an answer to a client that arrived
  // whole, so a small one, shows that it fits now.
  sync::watch::ReflectorConfig::TooLarge too_large{.first = std::chrono::minutes(1)};
};
inline constexpr ScopeRetry scope_retry;

class ScopeHealth {
 public:
  // The operation that failed or worked.
  enum class Part : std::uint8_t { list, watch };

  [[nodiscard]] ScopeFault fault() const { return fault_; }
  [[nodiscard]] bool is_healthy() const { return fault_ == ScopeFault::none; }
  [[nodiscard]] bool is_refused() const { return fault_ == ScopeFault::refused; }
  [[nodiscard]] Part part() const { return part_; }  // that failed; meaningless while healthy
  // Why the last attempt failed; "" while healthy.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  // When the scope became unhealthy, and when it failed last; MonoTime::min() while healthy.
  [[nodiscard]] MonoTime since() const { return since_; }
  [[nodiscard]] MonoTime failed_at() const { return failed_at_; }

  // Whether what failed last would fail again because of the scope: it was refused, unreadable, too
  // large or answered with an error. A missing answer may be the fault of the link, as when a cut
  // breaks the connection.
  [[nodiscard]] bool would_fail_again() const { return would_fail_again_; }

  // Lists in a row that were too large, and when the next one is due, also after an outage; 0 and
  // MonoTime::min() unless the last was.
  [[nodiscard]] int too_large() const { return too_large_; }
  [[nodiscard]] MonoTime list_due() const { return list_due_; }

  // Reports a failure. Returns true if the fault has changed, which is worth a journal record.
  bool fail(MonoTime now, Part part, const sync::watch::Failure& failure);
  // Reports that `part` works. Ends a fault of the same part; returns whether it did.
  bool succeed(Part part);

 private:
  ScopeFault fault_ = ScopeFault::none;
  Part part_ = Part::list;
  std::string reason_;
  MonoTime since_ = MonoTime::min();
  MonoTime failed_at_ = MonoTime::min();
  bool would_fail_again_ = false;
  int too_large_ = 0;
  MonoTime list_due_ = MonoTime::min();
};

// For the admin pages:
// {"state":"refused","reason":...,"for_seconds":...,"refreshed_seconds_ago":...}. The last is the
// age of the last complete list, or of the watch that continued, in this run.
[[nodiscard]] sync::json::object health_json(const LocalScope& scope, MonoTime now);
// The unhealthy scopes, at most 20: the same objects with "path" and "field_selector".
[[nodiscard]] sync::json::array unhealthy_json(const ScopeTable& scopes, MonoTime now);
// Sets the gauges holdfast_edge_scopes_unhealthy{fault="..."}.
void gauge_unhealthy(const ScopeTable& scopes, Metrics& metrics);

}  // namespace holdfast::agent
