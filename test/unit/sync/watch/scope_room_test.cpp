#include "sync/watch/scope_room.h"

#include <gtest/gtest.h>

namespace holdfast::sync::watch {
namespace {

using namespace std::chrono_literals;

std::string text_of(const RoomStep& step) {
  switch (step.kind) {
    case RoomStep::Kind::none:
      return "room";
    case RoomStep::Kind::drop:
      return "drop " + std::to_string(step.scope);
    case RoomStep::Kind::forget:
      return "forget events of " + (step.owner.empty() ? "all" : step.owner);
    case RoomStep::Kind::refuse:
      return step.why;
  }
  return "";
}

constexpr auto one_object = Extent::one_object;
constexpr auto one_namespace = Extent::one_namespace;
constexpr MonoTime early{1s};
constexpr MonoTime late{9s};

TEST(ScopeRoom, ForOneMoreScope) {
  // Of 4 scopes, foreign owners may have 2, and each of them as many.
  const CacheLimits limits{.scopes = 4, .foreign = {.scopes = 2}};
  const struct {
    std::string_view what;
    std::string_view owner;
    ScopeFactsTable scopes;
    std::string step;
  } rows[] = {
      {"there is room", "node", {{.owner = "node"}, {.owner = "a"}}, "room"},
      {"the node's own cluster-wide scopes stay",
       "node",
       {{.owner = "node"}, {.owner = "node"}, {.owner = "node"}, {.owner = "node"}},
       "more than 4 scopes, all of them needed"},
      {"a foreign scope makes room for the node, the least recently used first",
       "node",
       {{.owner = "node", .extent = one_object},
        {.owner = "a", .used_at = late},
        {.owner = "b", .used_at = early},
        {.owner = "node"}},
       "drop 2"},
      {"an idle one before a watched one",
       "node",
       {{.owner = "a", .is_watched = true},
        {.owner = "a", .is_watched = true},
        {.owner = "b", .used_at = late},
        {.owner = "node"}},
       "drop 2"},
      {"a watched one before the node's own",
       "node",
       {{.owner = "node", .extent = one_object},
        {.owner = "a", .is_watched = true},
        {.owner = "node"},
        {.owner = "node"}},
       "drop 1"},
      {"then the node's own of one object",
       "node",
       {{.owner = "node", .extent = one_namespace},
        {.owner = "node", .extent = one_object, .used_at = late},
        {.owner = "node", .extent = one_object, .used_at = early},
        {.owner = "node", .extent = one_object, .is_watched = true}},
       "drop 2"},
      {"but none that a pod needs, or that shows unsent writes; then those of one namespace",
       "node",
       {{.owner = "node", .extent = one_object, .is_needed = true},
        {.owner = "node", .extent = one_object, .keeps_writes = true},
        {.owner = "node", .extent = one_namespace},
        {.owner = "node"}},
       "drop 2"},
      {"what was not used in this run goes by the stored time",
       "node",
       {{.owner = "a", .last_used = WallTime{9s}},
        {.owner = "a", .last_used = WallTime{1s}},
        {.owner = "node"},
        {.owner = "node"}},
       "drop 1"},
      {"a caller's own scope makes room for his next, unsent writes or not",
       "a",
       {{.owner = "a", .used_at = late}, {.owner = "a", .keeps_writes = true}, {.owner = "node"}},
       "drop 1"},
      {"unless all of his are watched",
       "a",
       {{.owner = "a", .is_watched = true}, {.owner = "a", .is_watched = true}},
       "more than 2 scopes of one caller, all of them watched"},
      {"the caller with the most makes room for one with fewer",
       "b",
       {{.owner = "a", .used_at = late}, {.owner = "a", .used_at = early}},
       "drop 1"},
      {"not for one with as many: his own goes",
       "b",
       {{.owner = "a", .used_at = early}, {.owner = "b", .used_at = late}},
       "drop 1"},
      {"a new caller takes the place of one that is gone",
       "c",
       {{.owner = "a", .is_watched = true}, {.owner = "b"}},
       "drop 1"},
      {"never the node's",
       "c",
       {{.owner = "node"}, {.owner = "node"}, {.owner = "node"}, {.owner = "node"}},
       "more than 2 scopes of callers other than the node"},
      {"nor a watched one",
       "c",
       {{.owner = "a", .is_watched = true}, {.owner = "b", .is_watched = true}},
       "more than 2 scopes of callers other than the node"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(text_of(room_to_open(row.scopes, row.owner, limits)), row.step) << row.what;
  }
}

TEST(ScopeRoom, ForMoreBytes) {
  // Foreign owners may hold 500 bytes together, and each of them 400.
  const CacheLimits limits{
      .foreign = {.bytes = 400}, .memory_bytes = 1000, .scope_bytes = 800, .scope_objects = 10};
  const struct {
    std::string_view what;
    Growth growth;
    ScopeFactsTable others;
    std::string step;
  } rows[] = {
      {"there is room", {.owner = "node", .objects = 10, .bytes = 800}, {}, "room"},
      {"too many objects",
       {.owner = "node", .objects = 11, .bytes = 1},
       {},
       "more than 10 objects"},
      {"too many bytes of one scope",
       {.owner = "node", .objects = 1, .bytes = 801},
       {},
       "more than 800 bytes of objects"},
      {"less than before always fits",
       {.owner = "node", .objects = 1, .bytes = 300, .bytes_before = 300, .counted = 300},
       {{.owner = "node", .bytes = 900}},
       "room"},
      {"what it counts for already is not counted twice",
       {.owner = "node", .objects = 1, .bytes = 600, .bytes_before = 500, .counted = 500},
       {{.owner = "node", .bytes = 400}},
       "room"},
      {"kept events go first, of all",
       {.owner = "node", .objects = 1, .bytes = 600},
       {{.owner = "a", .bytes = 400}, {.owner = "node", .bytes = 100, .event_bytes = 1}},
       "forget events of all"},
      {"also its own",
       {.owner = "node", .objects = 1, .bytes = 600, .event_bytes = 401, .counted = 401},
       {},
       "forget events of all"},
      {"then a foreign scope makes room for the node: an idle one that holds something",
       {.owner = "node", .objects = 1, .bytes = 700},
       {{.owner = "a", .is_watched = true, .bytes = 200},
        {.owner = "a", .bytes = 200, .used_at = late},
        {.owner = "b"}},
       "drop 1"},
      {"then a watched one",
       {.owner = "node", .objects = 1, .bytes = 800},
       {{.owner = "a", .is_watched = true, .bytes = 201}, {.owner = "b"}},
       "drop 0"},
      {"the node's own make no room",
       {.owner = "node", .objects = 1, .bytes = 800},
       {{.owner = "node", .bytes = 201}},
       "the cache would hold more than 1000 bytes"},
      {"a caller may hold just his limit",
       {.owner = "a", .objects = 1, .bytes = 300},
       {{.owner = "a", .bytes = 100}},
       "room"},
      {"then events of the scope itself go first",
       {.owner = "a", .objects = 1, .bytes = 400, .event_bytes = 1, .counted = 1},
       {},
       "forget events of a"},
      {"or those of his other scopes, only his",
       {.owner = "a", .objects = 1, .bytes = 300},
       {{.owner = "a", .bytes = 101, .event_bytes = 1}, {.owner = "b", .event_bytes = 1}},
       "forget events of a"},
      {"then his least recently used scope that is idle and holds something",
       {.owner = "a", .objects = 1, .bytes = 300},
       {{.owner = "a", .bytes = 50, .used_at = late},
        {.owner = "a", .bytes = 50, .used_at = early},
        {.owner = "a"},
        {.owner = "a", .is_watched = true, .bytes = 50}},
       "drop 1"},
      {"then he has no room",
       {.owner = "a", .objects = 1, .bytes = 401},
       {{.owner = "b", .bytes = 50}},
       "more than 400 bytes of one caller's objects"},
      {"other callers make no room for him",
       {.owner = "a", .objects = 1, .bytes = 300},
       {{.owner = "b", .bytes = 201, .event_bytes = 1}},
       "more than 500 bytes of objects of callers other than the node"},
      {"nor does the node",
       {.owner = "a", .objects = 1, .bytes = 300},
       {{.owner = "node", .bytes = 701}},
       "the cache would hold more than 1000 bytes"},
  };
  for (const auto& row : rows) {
    ScopeBytes held;
    held.change(row.growth.owner, 0, row.growth.counted);
    for (const ScopeFacts& scope : row.others)
      held.change(std::string(scope.owner), 0, scope.bytes);
    const RoomStep step = room_to_grow(row.growth, held, row.others, limits);
    EXPECT_EQ(text_of(step), row.step) << row.what;
    EXPECT_EQ(has_room_for(row.growth, held, limits), row.step == "room") << row.what;
  }
}

TEST(ScopeRoom, RestoredScopesOfOthersMustBeFewEnough) {
  const CacheLimits limits{.scopes = 4, .foreign = {.scopes = 1}};
  const ScopeFacts node{.owner = "node"};
  const ScopeFacts a{.owner = "a"};
  const ScopeFacts b{.owner = "b"};
  const ScopeFacts c{.owner = "c"};
  EXPECT_TRUE(fits_by_number({node, node, b, a}, "a", limits));
  EXPECT_FALSE(fits_by_number({node, a, a}, "a", limits)) << "of one caller";
  EXPECT_FALSE(fits_by_number({a, b, c}, "c", limits)) << "of all callers";
  EXPECT_FALSE(fits_by_number({node, node, node, node, a}, "a", limits)) << "of all";
}

TEST(ScopeRoom, BytesAreCountedByOwner) {
  ScopeBytes held;
  held.change("node", 0, 100);
  held.change("a", 0, 30);
  held.change("a", 0, 5);
  held.change("a", 30, 10);
  EXPECT_EQ(held.all(), 115U);
  EXPECT_EQ(held.of("a"), 15U);
  EXPECT_EQ(held.of("b"), 0U);
  EXPECT_EQ(held.foreign(), 15U);
  held.change("a", 15, 0);
  EXPECT_EQ(held.foreign(), 0U);
}

}  // namespace
}  // namespace holdfast::sync::watch
