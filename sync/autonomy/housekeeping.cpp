#include "sync/autonomy/housekeeping.h"

#include "platform/check.h"

namespace holdfast::sync::autonomy {
std::string_view to_string(DropReason reason) {
  switch (reason) {
    case DropReason::no:
      return "no";
    case DropReason::unused:
      return "unused";
    case DropReason::foreign:
      return "foreign";
    case DropReason::events:
      return "events";
    case DropReason::orphaned:
      return "orphaned";
    case DropReason::gone:
      return "gone";
  }
  UNREACHABLE();
}

DropReason drop_reason_of(const ScopeUse& use, const NeededObjects* references,
                          const HousekeepingLimits& limits) {
  if (use.watched || use.has_unsent_writes) return DropReason::no;
  if (use.holds_one() && references != nullptr) {
    const bool needed = references->contains({use.resource, use.namespace_name, use.name});
    if (!needed && use.gone && use.idle_in_run >= limits.gone) return DropReason::gone;
    const bool released = use.for_pods_only && use.idle_in_run >= limits.released;
    if (!needed && released) return DropReason::orphaned;
    const bool of_pods = use.resource == "secrets" || use.resource == "configmaps";
    if (!needed && of_pods && use.idle_in_run >= limits.orphaned) return DropReason::orphaned;
    if (needed) return DropReason::no;
  }
  if (use.idle_in_run < limits.settled) return DropReason::no;
  if (use.resource == "events" && use.idle_by_calendar >= limits.events_unused) {
    return DropReason::events;
  }
  if (use.foreign && use.idle_by_calendar >= limits.foreign_unused) return DropReason::foreign;
  return use.idle_by_calendar >= limits.unused ? DropReason::unused : DropReason::no;
}

int trim_step(const FilePages& pages, Duration idle, const HousekeepingLimits& limits) {
  if (idle < limits.trim_idle) return 0;
  const bool worth = pages.free >= limits.trim_from_pages && pages.free >= pages.total / 4;
  return worth ? limits.trim_pages : 0;
}

}  // namespace holdfast::sync::autonomy
