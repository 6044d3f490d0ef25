// What is remembered of lists that were too large, and what is asked for instead.

#include "sync/objects/large_lists.h"

#include <gtest/gtest.h>

namespace holdfast::sync::objects {
namespace {

using namespace std::chrono_literals;

Query parsed(std::string_view text) { return Query::parse(text).value(); }

CallersList list_of(std::string_view caller, std::string_view path, std::string_view query) {
  return callers_list(caller, path, parsed(query));
}

TEST(LargeLists, WhatWasTooLargeIsNotAskedForAgain) {
  struct Row {
    std::string_view why;
    std::string_view noted;  // of the caller "a" and the path "/services"
    std::string_view caller, path, asked;
    std::string to_ask;  // "-": nothing
    Duration later = 59s;
  };
  const Row rows[] = {
      {"a whole list", "", "a", "/services", "", "-"},
      {"its pages may fit", "", "a", "/services", "limit=500", "limit=500"},
      {"the limit is ignored for version 0", "", "a", "/services", "limit=9&resourceVersion=0",
       "limit=9"},
      {"a page", "limit=500", "a", "/services", "limit=500", "limit=62"},
      {"a larger page", "limit=62", "a", "/services", "limit=500", "limit=7"},
      {"the next page", "limit=62", "a", "/services", "continue=x&limit=500", "continue=x&limit=7"},
      {"the whole list has the page's objects", "limit=500", "a", "/services", "", "-"},
      {"a smaller page", "limit=500", "a", "/services", "limit=100", "limit=100"},
      {"one object says nothing of the others", "limit=1", "a", "/services", "limit=1", "limit=1"},
      {"another caller", "", "b", "/services", "", ""},
      {"another path", "", "a", "/endpoints", "", ""},
      {"another selection", "", "a", "/services", "labelSelector=x", "labelSelector=x"},
      {"a minute later", "", "a", "/services", "", "", 60s},
  };
  for (const Row& row : rows) {
    LargeLists lists;
    const MonoTime now{};
    lists.note(now, list_of("a", "/services", row.noted), parsed(row.noted));
    const auto list = list_of(row.caller, row.path, row.asked);
    const auto to_ask = lists.to_ask(now + row.later, list, parsed(row.asked));
    EXPECT_EQ(to_ask ? to_ask->encode() : "-", row.to_ask) << row.why;
  }
}

TEST(LargeLists, TheSmallestPageThatWasTooLargeCounts) {
  LargeLists lists;
  const auto list = list_of("a", "/services", "");
  lists.note(MonoTime{}, list, parsed("limit=62"));
  lists.note(MonoTime{} + 30s, list, parsed("limit=500"));
  const auto asks = [&lists, &list](Duration after) {
    const auto page = lists.to_ask(MonoTime{} + after, list, parsed("limit=500"));
    return page ? page->encode() : "-";
  };
  EXPECT_EQ(asks(31s), "limit=7");
  EXPECT_EQ(asks(89s), "limit=7");
  EXPECT_EQ(asks(90s), "limit=500");
}

TEST(LargeLists, TheirNumberIsLimited) {
  LargeLists lists({.count = 2});
  const auto is_known = [&lists](std::string_view path) {
    return !lists.to_ask(MonoTime{}, list_of("a", path, ""), parsed("")).has_value();
  };
  for (const char* path : {"/1", "/2", "/2", "/3"}) {
    lists.note(MonoTime{}, list_of("a", path, ""), parsed(""));
  }
  EXPECT_FALSE(is_known("/1"));
  EXPECT_TRUE(is_known("/2"));
  EXPECT_TRUE(is_known("/3"));
}

}  // namespace
}  // namespace holdfast::sync::objects
