// Journals when cached lists become healthy or unhealthy.
//
// Threading: the loop's thread only.

#pragma once

#include <optional>

#include "agent/edge/cache/local_scope.h"
#include "agent/edge/offline/offline_store.h"

namespace holdfast::agent {

struct ScopeJournalLimits {
  // The most changes that are journalled per interval. Each is a durable write.
  int records = 20;
  Duration interval = std::chrono::minutes(1);
};
inline constexpr ScopeJournalLimits scope_journal_limits;

class ScopeJournal {
 public:
  // Both are borrowed.
  ScopeJournal(OfflineStore& offline_store, const Clock& clock)
      : offline_store_(offline_store), clock_(clock) {}

  // Journals a change of the scope's health, within the limits.
  void record(const LocalScope& scope);

 private:
  OfflineStore& offline_store_;
  const Clock& clock_;
  std::optional<MonoTime> since_;  // start of the interval that `records_` counts
  int records_ = 0;
};

}  // namespace holdfast::agent
