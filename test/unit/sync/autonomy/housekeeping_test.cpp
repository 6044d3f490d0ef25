// What the cache need not keep: which scopes go, what pods name, when a file is made smaller.

#include "sync/autonomy/housekeeping.h"

namespace holdfast::sync {
namespace {

std::string text(const PodReferences& references) {
  std::string all;
  for (const PodReference& each : references) {
    all += each.resource.substr(0, 1) + ":" + each.namespace_name + "/" + each.name + " ";
  }
  return all;
}

TEST(Housekeeping, WhateverAPodMayNameIsFound) {
  struct Case {
    const char* what;
    const char* spec;
    const char* found;
  };
  const Case cases[] = {
      {"nothing", R"({"containers":[{"name":"secret","image":"configMap"}]})", ""},
      {"volumes",
       R"({"volumes":[{"name":"v","secret":{"secretName":"s1"}},
                      {"name":"w","configMap":{"name":"c1","items":[{"key":"k"}]}},
                      {"name":"x","emptyDir":{}}]})",
       "c:ns/c1 s:ns/s1 "},
      {"projected",
       R"({"volumes":[{"projected":{"sources":[{"secret":{"name":"s1"}},{"configMap":{"name":"c1"}},
           {"serviceAccountToken":{"path":"t"}}]}}]})",
       "c:ns/c1 s:ns/s1 "},
      {"environment",
       R"({"containers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"s1","key":"k"}}},
                                 {"valueFrom":{"configMapKeyRef":{"name":"c1","key":"k"}}}],
                          "envFrom":[{"secretRef":{"name":"s2"}},{"configMapRef":{"name":"c2"}}]}],
           "initContainers":[{"envFrom":[{"secretRef":{"name":"s3"}}]}],
           "ephemeralContainers":[{"envFrom":[{"configMapRef":{"name":"c3"}}]}]})",
       "c:ns/c1 c:ns/c2 c:ns/c3 s:ns/s1 s:ns/s2 s:ns/s3 "},
      {"pull secrets and plugins",
       R"({"imagePullSecrets":[{"name":"s1"},{"name":"s2"}],
           "volumes":[{"csi":{"nodePublishSecretRef":{"name":"s3"}}},
                      {"azureFile":{"secretName":"s4"}},{"rbd":{"secretRef":{"name":"s5"}}}]})",
       "s:ns/s1 s:ns/s2 s:ns/s3 s:ns/s4 s:ns/s5 "},
  };
  for (const Case& c : cases) {
    PodReferences found;
    const std::string pod = R"({"metadata":{"namespace":"ns"},"spec":)" + std::string(c.spec) + "}";
    ASSERT_TRUE(add_references(pod, found)) << c.what;
    EXPECT_EQ(text(found), c.found) << c.what;
  }
  PodReferences found;
  EXPECT_TRUE(add_references(R"({"metadata":{"namespace":"ns"}})", found));
  for (const char* bad :
       {"", "[]", "{}", R"({"metadata":{}})", R"({"metadata":{"namespace":1}})"}) {
    EXPECT_FALSE(add_references(bad, found)) << bad;
  }
  EXPECT_TRUE(found.empty());
}

TEST(Housekeeping, WhatNobodyUsesGoesAndNothingElse) {
  constexpr Duration week = 7 * 24h;
  const PodReferences named{{"secrets", "ns", "used"}};
  struct Case {
    const char* what;
    ScopeUse use;
    const char* verdict;
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
  ScopeUse owes = named_scope("pods", "", week);
  owes.owes = true;
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
      {"somebody has it open", watched, "no"},
      {"the cloud does not know of it yet", owes, "no"},
  };
  for (const Case& c : cases) {
    const PodReferences* references = c.pods_known ? &named : nullptr;
    EXPECT_EQ(to_string(judge_scope(c.use, references, {})), c.verdict) << c.what;
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
}  // namespace holdfast::sync
