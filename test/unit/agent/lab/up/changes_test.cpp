#include "agent/lab/up/changes.h"

#include <gtest/gtest.h>

namespace holdfast::agent::lab::up {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

NodeView node(const char* name, const char* ready) {
  return {.name = name, .link = {"up"}, .ready = {ready}, .agent = {"connected"}, .lease_age = 1s};
}

PodView pod(const char* uid, const char* state, int restarts = 0) {
  return {.name = "default/web", .uid = uid, .node = "a-1", .state = {state}, .restarts = restarts};
}

TEST(UpChanges, NothingChangesByTheAgeOfALease) {
  View before;
  before.nodes = {node("a-1", "True")};
  View after = before;
  after.age = 10s;
  after.nodes.front().lease_age = 9s;
  EXPECT_EQ(changes_between(before, after), Lines());
}

TEST(UpChanges, NodesAreFollowed) {
  View before;
  before.nodes = {node("a-1", "True"), node("a-2", "True")};
  before.nodes[1].taints = {"old:NoSchedule", "both:NoSchedule"};
  View after = before;
  after.nodes[0].link = {"cut"};
  after.nodes[0].agent = {"offline"};
  after.nodes[1].ready = {"Unknown"};
  after.nodes[1].taints = {"both:NoSchedule", "unreachable:NoExecute"};
  after.nodes.push_back(node("a-3", "True"));
  EXPECT_EQ(
      changes_between(before, after),
      (Lines{"a-1: link up -> cut", "a-1: agent connected -> offline", "a-2: Ready True -> Unknown",
             "a-2: taint unreachable:NoExecute added", "a-2: taint old:NoSchedule removed",
             "a-3: agent - -> connected", "a-3: Ready - -> True"}));
}

TEST(UpChanges, APodOfTheSameNameIsAnotherPod) {
  View before;
  before.pods = {pod("1", "Running")};
  View after;
  after.pods = {pod("2", "Pending")};
  EXPECT_EQ(changes_between(before, after),
            (Lines{"pod default/web: gone", "pod default/web: created",
                   "pod default/web: bound to a-1"}));
  View later = after;
  later.pods = {pod("2", "Running", 2)};
  EXPECT_EQ(changes_between(after, later),
            (Lines{"pod default/web: state Pending -> Running", "pod default/web: restarted (2)"}));
}

TEST(UpChanges, WhatIsUpcomingIsSaidOnce) {
  View before;
  View after;
  after.upcoming = {
      {.in = 300s, .what = "evict default/web from a-1", .reason = "unreachable"},
      {.when = Upcoming::When::withheld, .what = "evict x from b-1", .reason = "autonomous"},
      {.when = Upcoming::When::waiting, .what = "evict y from c-1", .reason = "no taint"}};
  EXPECT_EQ(
      changes_between(before, after),
      (Lines{"in 5m0s: evict default/web from a-1 (unreachable)",
             "withheld: evict x from b-1 (autonomous)", "not yet: evict y from c-1 (no taint)"}));
  View later = after;
  later.upcoming[0].in = 200s;
  later.upcoming[1].when = Upcoming::When::at;
  later.upcoming[1].in = 10s;
  EXPECT_EQ(changes_between(after, later), Lines{"in 10s: evict x from b-1 (autonomous)"});
}

}  // namespace
}  // namespace holdfast::agent::lab::up
