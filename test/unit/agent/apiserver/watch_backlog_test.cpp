// A watch of the lab's API server whose client reads more slowly than events come.

#include <gtest/gtest.h>

#include <algorithm>

#include "agent/lab/apiserver/watch.h"
#include "sync/printing/resources.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::lab {
namespace {

// Also a watch that begins with a large backlog gets on: its client continues where it ended.
TEST(WatchBacklog, WhatWaitsIsSentBeforeTheWatchIsBrokenOff) {
  test::VirtualTime time;
  WatchOrder order;
  order.view.resource = sync::printing::find_resource("", "v1", "configmaps");
  order.view.version = order.view.resource->version("v1");
  Watch watch(time.executor(), std::move(order), {.pending = 1000}, time.clock().mono());
  for (int revision = 1; revision <= 100; ++revision) watch.add_bookmark(revision, false);
  Result<std::string> first;
  Result<std::string> second;
  time.complete(
      [](Watch& of, Result<std::string>& one, Result<std::string>& two) -> asio::awaitable<void> {
        one = co_await of.next();
        two = co_await of.next();
      }(watch, first, second));
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_GT(std::count(first->begin(), first->end(), '\n'), 1);
  EXPECT_LE(first->size(), 1000u);
  EXPECT_EQ(first->back(), '\n') << "whole events";
  EXPECT_NE(first->find(R"("resourceVersion":"1")"), std::string::npos);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().what, "the watcher reads too slowly");
}

}  // namespace
}  // namespace holdfast::agent::lab
