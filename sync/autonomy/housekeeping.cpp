#include "sync/autonomy/housekeeping.h"

#include "platform/check.h"

namespace holdfast::sync::autonomy {
std::string_view to_string(Leftover leftover) {
  switch (leftover) {
    case Leftover::no:
      return "no";
    case Leftover::unused:
      return "unused";
    case Leftover::foreign:
      return "foreign";
    case Leftover::events:
      return "events";
    case Leftover::orphaned:
      return "orphaned";
    case Leftover::gone:
      return "gone";
  }
  UNREACHABLE();
}

Leftover judge_scope(const ScopeUse& use, const NeededObjects* references,
                     const HousekeepingLimits& limits) {
  if (use.watched || use.owes) return Leftover::no;
  if (use.holds_one() && references != nullptr) {
    const bool needed = references->contains({use.resource, use.namespace_name, use.name});
    if (!needed && use.gone && use.idle_in_run >= limits.gone) return Leftover::gone;
    const bool released = use.for_pods_only && use.idle_in_run >= limits.released;
    if (!needed && released) return Leftover::orphaned;
    const bool of_pods = use.resource == "secrets" || use.resource == "configmaps";
    if (!needed && of_pods && use.idle_in_run >= limits.orphaned) return Leftover::orphaned;
    if (needed) return Leftover::no;
  }
  if (use.idle_in_run < limits.settled) return Leftover::no;
  if (use.resource == "events" && use.idle_by_calendar >= limits.events_unused) {
    return Leftover::events;
  }
  if (use.foreign && use.idle_by_calendar >= limits.foreign_unused) return Leftover::foreign;
  return use.idle_by_calendar >= limits.unused ? Leftover::unused : Leftover::no;
}

int trim_step(const FilePages& pages, Duration idle, const HousekeepingLimits& limits) {
  if (idle < limits.trim_idle) return 0;
  const bool worth = pages.free >= limits.trim_from_pages && pages.free >= pages.total / 4;
  return worth ? limits.trim_pages : 0;
}

}  // namespace holdfast::sync::autonomy
