#include "sync/autonomy/read_source.h"

#include <gtest/gtest.h>

namespace holdfast::sync::autonomy {
namespace {

std::string_view text_of(ReadSource source) {
  switch (source) {
    case ReadSource::cache:
      return "cache";
    case ReadSource::cloud:
      return "cloud";
    case ReadSource::cloud_before:
      return "cloud before cache";
    case ReadSource::wait:
      return "wait";
    case ReadSource::nothing:
      return "nothing";
  }
  return "";
}

// What happens to a read whose request to the cloud, if it is sent, gets no answer, and whose scope
// does not become complete.
std::string way_of(ReadFacts facts) {
  std::string way;
  for (;;) {
    const ReadSource source = source_of(facts);
    way += (way.empty() ? "" : ", ") + std::string(text_of(source));
    if (source == ReadSource::cache || source == ReadSource::nothing) return way;
    if (source == ReadSource::wait) {
      // What has waited waits again only for what arrives. Here it stops then.
      EXPECT_TRUE(!facts.has_waited || facts.is_arriving);
      facts.is_arriving = facts.is_arriving && !facts.has_waited;
      facts.has_waited = true;
    } else {
      EXPECT_FALSE(facts.was_asked);
      facts.was_asked = true;
    }
  }
}

// A scope with a complete list that the API server keeps up to date.
ReadFacts cached() {
  return {.has_scope = true, .is_complete = true, .server_version = 100, .link_allows_reads = true};
}

TEST(ReadSource, AListIsAwaitedForAMinuteUnlessTheBudgetDelaysIt) {
  using std::chrono::milliseconds;
  const struct {
    bool is_under_way;
    bool is_delayed;
    Duration waited;
    bool worth;
  } rows[] = {{true, false, milliseconds(0), true},       {true, false, milliseconds(59'999), true},
              {true, false, milliseconds(60'000), false}, {true, true, milliseconds(0), false},
              {false, false, milliseconds(0), false},     {false, true, milliseconds(0), false}};
  for (const auto& row : rows) {
    EXPECT_EQ(is_worth_waiting(row.is_under_way, row.is_delayed, row.waited), row.worth)
        << row.is_under_way << row.is_delayed << row.waited / milliseconds(1);
  }
}

TEST(ReadSource, OfAReadDependsOnRequestScopeAndLink) {
  struct Row {
    std::string_view what;
    void (*change)(ReadFacts&);
    std::string connected;
    std::string offline;
  };
  const Row rows[] = {
      {"any state", [](ReadFacts&) {}, "cache", "cache"},
      {"the newest state", [](ReadFacts& facts) { facts.wants_newest = true; },
       "cloud before cache, cache", "cache"},
      {"the newest state, of an API server whose answers come too late",
       [](ReadFacts& facts) {
         facts.wants_newest = true;
         facts.answers_late = true;
       },
       "cache", "cache"},
      {"the same, but the scope cannot be refreshed",
       [](ReadFacts& facts) {
         facts.wants_newest = true;
         facts.answers_late = true;
         facts.is_healthy = false;
       },
       "cloud before cache, cache", "cache"},
      {"a newer state than the cache's, of such an API server",
       [](ReadFacts& facts) {
         facts.version = 101;
         facts.answers_late = true;
       },
       "cloud, cache", "cache"},
      {"no scope, and such an API server", [](ReadFacts& facts) { facts = {.answers_late = true}; },
       "cloud, nothing", "nothing"},
      {"a list under way from such an API server, of the newest state",
       [](ReadFacts& facts) {
         facts.is_complete = false;
         facts.wants_newest = true;
         facts.answers_late = true;
       },
       "cloud, wait, nothing", "nothing"},
      {"a state that the cache has seen", [](ReadFacts& facts) { facts.version = 100; }, "cache",
       "cache"},
      {"a newer state than the cache's", [](ReadFacts& facts) { facts.version = 101; },
       "cloud, cache", "cache"},
      {"a local version, which no cloud knows",
       [](ReadFacts& facts) { facts.version = objects::first_local_version; }, "cache", "cache"},
      {"a watch that is ahead waits in the cache",
       [](ReadFacts& facts) {
         facts.is_watch = true;
         facts.version = 101;
       },
       "cache", "cache"},
      {"a watch from before the history",
       [](ReadFacts& facts) {
         facts.is_watch = true;
         facts.version = 50;
         facts.reaches_version = false;
       },
       "cloud, cache", "cache"},
      {"the same, but it begins with the objects",
       [](ReadFacts& facts) {
         facts.is_watch = true;
         facts.wants_initial_events = true;
         facts.version = 50;
         facts.reaches_version = false;
       },
       "cache", "cache"},
      {"a watch from any version",
       [](ReadFacts& facts) {
         facts.is_watch = true;
         facts.reaches_version = false;
       },
       "cache", "cache"},
      {"the API server refuses the scope, or it is fetched by name",
       [](ReadFacts& facts) { facts.learns_changes = false; }, "cloud, cache", "cache"},
      {"the scope cannot be refreshed, but was complete",
       [](ReadFacts& facts) { facts.is_healthy = false; }, "cache", "cache"},
      {"no scope", [](ReadFacts& facts) { facts = {}; }, "cloud, nothing", "nothing"},
      {"a list under way", [](ReadFacts& facts) { facts.is_complete = false; }, "wait, nothing",
       "nothing"},
      {"a list under way, of the newest state",
       [](ReadFacts& facts) {
         facts.is_complete = false;
         facts.wants_newest = true;
       },
       "cloud, wait, nothing", "nothing"},
      {"a list that arrives slowly",
       [](ReadFacts& facts) {
         facts.is_complete = false;
         facts.is_arriving = true;
       },
       "wait, wait, nothing", "nothing"},
      {"the same, of the newest state",
       [](ReadFacts& facts) {
         facts.is_complete = false;
         facts.is_arriving = true;
         facts.wants_newest = true;
       },
       "cloud, wait, wait, nothing", "nothing"},
      {"a list that arrives slowly and is too large for memory",
       [](ReadFacts& facts) {
         facts.is_complete = false;
         facts.is_arriving = true;
         facts.is_large = true;
       },
       "cloud, wait, nothing", "nothing"},
      {"a list that arrives while the last one is shown",
       [](ReadFacts& facts) { facts.is_arriving = true; }, "cache", "cache"},
      {"a list that arrives, but was just unreadable",
       [](ReadFacts& facts) {
         facts.is_complete = false;
         facts.is_arriving = true;
         facts.is_healthy = false;
       },
       "cloud, nothing", "nothing"},
      {"never complete, and cannot be refreshed",
       [](ReadFacts& facts) {
         facts.is_complete = false;
         facts.is_healthy = false;
       },
       "cloud, nothing", "nothing"},
      {"never complete, and too large to arrive soon",
       [](ReadFacts& facts) {
         facts.is_complete = false;
         facts.is_large = true;
       },
       "cloud, wait, nothing", "nothing"},
      {"large, but complete", [](ReadFacts& facts) { facts.is_large = true; }, "cache", "cache"},
      {"never complete, and refused",
       [](ReadFacts& facts) {
         facts.is_complete = false;
         facts.learns_changes = false;
       },
       "cloud, wait, nothing", "nothing"},
  };
  for (const Row& row : rows) {
    for (const bool connected : {true, false}) {
      ReadFacts facts = cached();
      row.change(facts);
      facts.link_allows_reads = connected;
      EXPECT_EQ(way_of(facts), connected ? row.connected : row.offline)
          << row.what << (connected ? ", connected" : ", offline");
    }
  }
}

}  // namespace
}  // namespace holdfast::sync::autonomy
