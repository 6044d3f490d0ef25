#include "agent/edge/cache/scope_health.h"

#include <algorithm>

#include "agent/edge/cache/scope_table.h"
#include "platform/check.h"

namespace holdfast::agent {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

std::string_view to_string(ScopeFault fault) {
  switch (fault) {
    case ScopeFault::none:
      return "ok";
    case ScopeFault::refused:
      return "refused";
    case ScopeFault::failed:
      return "failed";
    case ScopeFault::too_large:
      return "too_large";
    case ScopeFault::timeout:
      return "timeout";
  }
  UNREACHABLE();
}

ScopeFault fault_of(const sync::watch::Failure& failure) {
  if (sync::watch::is_refusal(failure)) return ScopeFault::refused;
  if (failure.code == Errc::exhausted && failure.http_status == 0) return ScopeFault::too_large;
  if (failure.code == Errc::timeout && failure.http_status == 0) return ScopeFault::timeout;
  return ScopeFault::failed;
}

bool ScopeHealth::fail(MonoTime now, Part part, const sync::watch::Failure& failure) {
  const ScopeFault fault = fault_of(failure);
  const bool changed = fault_ != fault;
  if (is_healthy()) since_ = now;
  fault_ = fault;
  part_ = part;
  reason_ = failure.what;
  failed_at_ = now;
  const bool unanswered = failure.code == Errc::timeout || failure.code == Errc::unavailable;
  would_fail_again_ = failure.http_status != 0 || !unanswered;
  if (failure.list_too_large) {
    list_due_ = now + sync::watch::pause_after_too_large(scope_retry.too_large, ++too_large_);
  }
  return changed;
}

bool ScopeHealth::succeed(Part part) {
  if (is_healthy() || part != part_) return false;
  *this = {};
  return true;
}

sync::json::object health_json(const LocalScope& scope, MonoTime now) {
  const ScopeHealth& health = scope.health();
  sync::json::object described{{"state", to_string(health.fault())}};
  if (!health.is_healthy()) {
    described["reason"] = health.reason();
    described["for_seconds"] = seconds(now - health.since());
  }
  if (scope.refreshed_at() != MonoTime::min()) {
    described["refreshed_seconds_ago"] = seconds(now - scope.refreshed_at());
  }
  return described;
}

sync::json::array unhealthy_json(const ScopeTable& scopes, MonoTime now) {
  constexpr std::size_t rows_max = 20;
  sync::json::array rows;
  for (const auto& [key, scope] : scopes.all()) {
    if (scope->health().is_healthy()) continue;
    if (rows.size() >= rows_max) break;
    sync::json::object row = health_json(*scope, now);
    row["path"] = scope->path();
    row["field_selector"] = key.field_selector;
    rows.push_back(std::move(row));
  }
  return rows;
}

void gauge_unhealthy(const ScopeTable& scopes, Metrics& metrics) {
  for (const ScopeFault fault : all_scope_faults) {
    const auto count =
        std::count_if(scopes.all().begin(), scopes.all().end(),
                      [fault](const auto& each) { return each.second->health().fault() == fault; });
    metrics
        .gauge("holdfast_edge_scopes_unhealthy", "Cached lists that cannot be refreshed, by fault.",
               {{"fault", std::string(to_string(fault))}})
        .set(static_cast<double>(count));
  }
}

}  // namespace holdfast::agent
