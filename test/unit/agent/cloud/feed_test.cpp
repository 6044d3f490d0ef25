#include "agent/cloud/feed.h"

namespace holdfast::agent {
namespace {

using Type = sync::WatchEvent::Type;

struct Log {
  std::vector<std::string> lines;
  int heard = 0;
};

Feed<sync::Pod> make_feed(Log& log) {
  return {[&log](const sync::Pod& pod) { log.lines.push_back("set " + pod.metadata.name); },
          [&log](const auto& name) { log.lines.push_back("remove " + name.second); },
          [&log] { ++log.heard; }};
}

std::string item(const std::string& name) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"d"},"spec":{},"status":{}})";
}

using Lines = std::vector<std::string>;

TEST(Feed, AListRemovesWhatItDoesNotHave) {
  Log log;
  auto feed = make_feed(log);
  EXPECT_FALSE(feed.complete());
  feed.replace({item("a"), item("b")}, "1", {});
  EXPECT_TRUE(feed.complete());
  feed.replace({item("b"), item("c")}, "2", {});
  EXPECT_EQ(log.lines, (Lines{"set a", "set b", "set b", "set c", "remove a"}));
  EXPECT_EQ(log.heard, 2);
}

TEST(Feed, EventsAreTakenOneByOne) {
  Log log;
  auto feed = make_feed(log);
  feed.replace({}, "1", {});
  feed.apply({Type::added, item("a"), "2"});
  feed.apply({Type::modified, item("a"), "3"});
  feed.apply({Type::deleted, item("a"), "4"});
  feed.replace({}, "5", {});
  feed.bookmark("6");
  EXPECT_EQ(log.lines, (Lines{"set a", "set a", "remove a"}));
  EXPECT_EQ(log.heard, 6);
}

TEST(Feed, MalformedObjectsAreCountedAndSkipped) {
  Log log;
  auto feed = make_feed(log);
  feed.replace({item("a"), R"({"metadata":{"name":7}})", "{"}, "1", {});
  feed.apply({Type::added, R"({"kind":"Node"})", "2"});
  EXPECT_EQ(log.lines, Lines{"set a"});
  EXPECT_EQ(feed.malformed(), 3u);
}

TEST(Feed, EachSkippedObjectIsTold) {
  int skipped = 0;
  Feed<sync::Pod> feed([](const auto&) {}, [](const auto&) {}, [] {}, [&skipped] { ++skipped; });
  const std::string broken = R"({"metadata":{"name":"a","namespace":"d"},"spec":7})";
  feed.replace({broken, item("b")}, "1", {});
  feed.apply({Type::modified, broken, "2"});
  EXPECT_EQ(skipped, 2);
  EXPECT_EQ(feed.malformed(), 2u);
}

TEST(Feed, WhatCannotBeReadAnyMoreIsNotGone) {
  Log log;
  auto feed = make_feed(log);
  feed.replace({item("a")}, "1", {});
  const std::string broken =
      R"({"metadata":{"name":"a","namespace":"d","uid":"u","resourceVersion":"2"},"spec":7})";
  feed.replace({broken}, "2", {});
  EXPECT_EQ(log.lines, Lines{"set a"});
}

}  // namespace
}  // namespace holdfast::agent
