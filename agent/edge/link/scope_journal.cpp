#include "agent/edge/link/scope_journal.h"

namespace holdfast::agent {

void ScopeJournal::record(const LocalScope& scope) {
  const MonoTime now = clock_.mono();
  if (!since_ || now - *since_ >= scope_journal_limits.interval) {
    since_ = now;
    records_ = 0;
  }
  if (++records_ > scope_journal_limits.records) return;
  const ScopeHealth& health = scope.health();
  std::string what(to_string(health.fault()));
  if (!health.is_healthy()) what += ": " + health.reason();
  offline_store_.record("scope", scope.path(), what);
}

}  // namespace holdfast::agent
