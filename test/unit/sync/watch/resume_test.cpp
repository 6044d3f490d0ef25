#include "sync/watch/resume.h"

#include <gtest/gtest.h>

namespace holdfast::sync::watch {
namespace {

using objects::first_local_version;

// A scope as a cache holds it.
struct Seen {
  objects::Version version = 0;  // 0: it was never complete
  bool has_local_write = false;
};

WatchCache cache_of(const Seen& seen) {
  WatchCache cache;
  if (seen.version == 0) return cache;
  const Bytes bytes = std::make_shared<const std::string>("{}");
  cache.restore({{{"", "a"}, {"uid", 1, bytes}}}, seen.version, {.kind = "Pod"});
  if (!seen.has_local_write) return cache;
  EXPECT_TRUE(
      cache.apply_local({EventType::modified, {"", "a"}, {"uid", first_local_version + 1, bytes}}));
  return cache;
}

TEST(Resumption, IsAllowedWhereNoVersionIsAheadOfTheServers) {
  const struct {
    std::string_view what;
    objects::Version shown;
    Seen scope;
    Seen other;
    std::string from;
  } rows[] = {
      {"the usual outage", 120, {100}, {119}, "100"},
      {"nothing has happened", 100, {100}, {100}, "100"},
      {"the server shows no version", 0, {100}, {99}, ""},
      {"the scope is ahead of the server", 99, {100}, {50}, ""},
      {"another scope is, so the data was replaced", 100, {50}, {101}, ""},
      {"never complete", 120, {}, {100}, ""},
      {"the other was never complete", 120, {100}, {}, "100"},
      {"written locally", 120, {100, true}, {119}, ""},
      {"the other was written locally", 120, {100}, {119, true}, "100"},
      {"the other was written locally and is ahead", 110, {100}, {119, true}, ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const WatchCache scope = cache_of(row.scope);
    Resumption resumption;
    resumption.begin(row.shown);
    resumption.note(scope);
    resumption.note(cache_of(row.other));
    EXPECT_EQ(resumption.resume_from(scope), row.from);
  }
}

TEST(Resumption, IsRefusedIfAnythingSpeaksAgainstTheObjects) {
  const WatchCache scope = cache_of({.version = 100});
  Resumption resumption;
  resumption.begin(120);
  resumption.note(scope);
  EXPECT_EQ(resumption.resume_from(scope, Doubt::none), "100");
  for (const Doubt doubt : {Doubt::derived, Doubt::outdated, Doubt::unreadable}) {
    EXPECT_EQ(resumption.resume_from(scope, doubt), "");
  }
}

TEST(Resumption, GoesOnAfterLocalWritesThatAreSettledLater) {
  const WatchCache scope = cache_of({.version = 100, .has_local_write = true});
  Resumption resumption;
  resumption.begin(120);
  resumption.note(scope);
  EXPECT_EQ(resumption.resume_from(scope, Doubt::none, false), "");
  EXPECT_EQ(resumption.resume_from(scope, Doubt::none, true), "100");
  EXPECT_EQ(resumption.resume_from(scope, Doubt::outdated, true), "");
}

TEST(Resumption, GoesOnAtAVersionThatTheServerHasShownMeanwhile) {
  const WatchCache scope = cache_of({.version = 100});
  Resumption resumption;
  resumption.begin(90);
  resumption.note_shown(80);
  EXPECT_EQ(resumption.resume_from(scope), "");
  resumption.note_shown(100);
  EXPECT_EQ(resumption.resume_from(scope), "100");
}

TEST(Resumption, EachConnectionIsJudgedByItself) {
  const WatchCache scope = cache_of({.version = 100});
  Resumption resumption;
  EXPECT_EQ(resumption.resume_from(scope), "") << "before the first";
  resumption.begin(90);
  resumption.note(scope);
  EXPECT_EQ(resumption.resume_from(scope), "");
  resumption.begin(130);
  resumption.note(scope);
  EXPECT_EQ(resumption.resume_from(scope), "100");
}

}  // namespace
}  // namespace holdfast::sync::watch
