// Housekeeping of the cache: which scopes are dropped and why, and when the file is shrunk.

#include "sync/autonomy/housekeeping.h"

namespace holdfast::sync::autonomy {
namespace {

TEST(Housekeeping, WhatNobodyUsesGoesAndNothingElse) {
  constexpr Duration week = 7 * 24h;
  const NeededObjects named{{"secrets", "ns", "used"}};
  struct Case {
    const char* what;
    ScopeUse use;
    const char* reason;
    bool pods_known = true;
  };
  const auto named_scope = [](const char* resource, const char* name, Duration idle) {
    return ScopeUse{.resource = resource,
                    .namespace_name = "ns",
                    .name = name,
                    .idle_in_run = idle,
                    .idle_by_calendar = idle};
  };
  ScopeUse watched = named_scope("secrets", "gone", week);
  watched.watched = true;
  const auto for_kubelet = [&named_scope](const char* resource, const char* name, Duration idle) {
    ScopeUse use = named_scope(resource, name, idle);
    use.for_pods_only = true;
    return use;
  };
  const auto without_object = [&named_scope](const char* name, Duration idle) {
    ScopeUse use = named_scope("secrets", name, idle);
    use.gone = true;
    return use;
  };
  ScopeUse has_unsent_writes = named_scope("pods", "", week);
  has_unsent_writes.has_unsent_writes = true;
  const Case cases[] = {
      {"in use", {.resource = "services"}, "no"},
      {"a week less a second",
       {.resource = "services", .idle_in_run = 1h, .idle_by_calendar = week - 1s},
       "no"},
      {"a week", {.resource = "services", .idle_in_run = 1h, .idle_by_calendar = week}, "unused"},
      {"a year by a calendar that jumped, an hour less a second in truth",
       {.resource = "services", .idle_in_run = 1h - 1s, .idle_by_calendar = 365 * 24h},
       "no"},
      {"the calendar was set back",
       {.resource = "services", .idle_in_run = week, .idle_by_calendar = -week},
       "no"},
      {"somebody else's, a day",
       {.resource = "pods", .foreign = true, .idle_in_run = 1h, .idle_by_calendar = 24h},
       "foreign"},
      {"somebody else's, less",
       {.resource = "pods", .foreign = true, .idle_in_run = 23h, .idle_by_calendar = 23h},
       "no"},
      {"events, an hour",
       {.resource = "events", .idle_in_run = 1h, .idle_by_calendar = 1h},
       "events"},
      {"events, less", {.resource = "events", .idle_in_run = 59min, .idle_by_calendar = 1h}, "no"},
      {"a Secret of no pod", named_scope("secrets", "gone", 1h), "orphaned"},
      {"a ConfigMap of no pod", named_scope("configmaps", "used", 1h), "orphaned"},
      {"a Secret of no pod since lately", named_scope("secrets", "gone", 1h - 1s), "no"},
      {"a Secret of a pod", named_scope("secrets", "used", 100h), "no"},
      {"a Secret of who knows", named_scope("secrets", "gone", 100h), "no", false},
      {"all Secrets", named_scope("secrets", "", 100h), "no"},
      {"another kind by name", named_scope("services", "gone", 100h), "no"},
      {"of no pod, and the kubelet alone has asked", for_kubelet("secrets", "old", 5min),
       "orphaned"},
      {"the same, since lately", for_kubelet("secrets", "old", 5min - 1s), "no"},
      {"the same of any kind", for_kubelet("persistentvolumeclaims", "old", 5min), "orphaned"},
      {"the kubelet's, of a pod", for_kubelet("secrets", "used", 5min), "no"},
      {"not there, of no pod", without_object("old", 1min), "gone"},
      {"not there, of no pod, since lately", without_object("old", 1min - 1s), "no"},
      {"not there, but a pod may do without it", without_object("used", week), "no"},
      {"somebody has it open", watched, "no"},
      {"the cloud does not know of it yet", has_unsent_writes, "no"},
  };
  for (const Case& c : cases) {
    const NeededObjects* references = c.pods_known ? &named : nullptr;
    EXPECT_EQ(to_string(drop_reason_of(c.use, references, {})), c.reason) << c.what;
  }
}

TEST(Housekeeping, AFileShrinksInSmallStepsWhileNobodyWaits) {
  struct Case {
    FilePages pages;
    Duration idle;
    int step;
  };
  const Case cases[] = {
      {{1000, 256}, 1s, 16}, {{1024, 256}, 1s, 16}, {{1025, 256}, 1s, 16}, {{1030, 256}, 1s, 0},
      {{1000, 255}, 1s, 0},  {{300, 300}, 1s, 16},  {{1000, 900}, 0s, 0},  {{0, 0}, 1h, 0},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(trim_step(c.pages, c.idle, {}), c.step)
        << c.pages.free << " of " << c.pages.total << " after " << c.idle.count();
  }
}

}  // namespace
}  // namespace holdfast::sync::autonomy
