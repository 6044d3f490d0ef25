// Whether one cached list (scope) can be kept up to date, apart from the health of the link.
//
// A scope is unhealthy from the first failed list, or refused or unreadable watch, until the
// operation that failed works again. Unhealthy scopes are retried with scope_retry; what they held
// before is still served. The link, the outbox and other scopes do not wait for them.
//
// Threading: the loop's thread only.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "platform/metrics.h"
#include "platform/time.h"
#include "sync/api/json.h"
#include "sync/watch/reflector.h"

namespace holdfast::agent {

class LocalScope;
class Scopes;

enum class ScopeFault : std::uint8_t {
  none,
  refused,    // 401, 403, 404 and other 4xx: the API server decided
  failed,     // 5xx, 429, an unreadable answer, a broken connection
  too_large,  // a limit of ours: bytes or objects of a list, of an event, of the cache
  late,       // no answer in time
};
inline constexpr std::array all_scope_faults = {ScopeFault::refused, ScopeFault::failed,
                                                ScopeFault::too_large, ScopeFault::late};

[[nodiscard]] std::string_view to_string(ScopeFault fault);
// The fault that a failed list or watch shows.
[[nodiscard]] ScopeFault fault_of(const sync::Failure& failure);

// How a scope that cannot be refreshed is retried: exponential, with full jitter.
struct ScopeRetry {
  sync::BackoffConfig backoff{.initial = std::chrono::seconds(1),
                              .most = std::chrono::minutes(5),
                              .factor = 2.0,
                              .reset_after = std::chrono::minutes(10)};
  // At least, after a 4xx other than 410 and 429. What was refused is listed again sooner when a
  // client's own request for it is granted, and after an outage.
  Duration refused_pause = std::chrono::minutes(30);
};
inline constexpr ScopeRetry scope_retry;

class ScopeHealth {
 public:
  enum class Part : std::uint8_t { list, watch };

  [[nodiscard]] ScopeFault fault() const { return fault_; }
  [[nodiscard]] bool is_healthy() const { return fault_ == ScopeFault::none; }
  [[nodiscard]] bool is_refused() const { return fault_ == ScopeFault::refused; }
  // Why the last attempt failed; "" while healthy.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  // When the scope became unhealthy, and when it failed last; MonoTime::min() while healthy.
  [[nodiscard]] MonoTime since() const { return since_; }
  [[nodiscard]] MonoTime failed_at() const { return failed_at_; }

  // Both return true when the fault is another one than before: that is worth a journal record.
  bool fail(MonoTime now, Part part, ScopeFault fault, std::string reason);
  // `part` works. The fault ends if it was of that part.
  bool succeed(Part part);

 private:
  ScopeFault fault_ = ScopeFault::none;
  Part part_ = Part::list;
  std::string reason_;
  MonoTime since_ = MonoTime::min();
  MonoTime failed_at_ = MonoTime::min();
};

// For the admin pages: {"state":"refused","reason":...,"for_seconds":...}, and the age of the last
// complete list of this run.
[[nodiscard]] sync::json::object health_json(const LocalScope& scope, MonoTime now);
// The unhealthy scopes, at most 20 of them: [{"path":...,"state":...,"reason":...}].
[[nodiscard]] sync::json::array unhealthy_json(const Scopes& scopes, MonoTime now);
// holdfast_edge_scopes_unhealthy{fault="..."}
void gauge_unhealthy(const Scopes& scopes, Metrics& metrics);

}  // namespace holdfast::agent
