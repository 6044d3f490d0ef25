#include "agent/cloud/feed.h"

#include "sync/wire/protobuf/cursor.h"

namespace holdfast::agent {
namespace {

using Type = sync::wire::WatchEvent::Type;

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

// A Pod in protobuf: field 1 is the metadata, in which field 1 is the name and 3 the namespace.
std::string protobuf_item(const std::string& name) {
  std::string metadata;
  sync::wire::append_wire(metadata, 1, name);
  sync::wire::append_wire(metadata, 3, "d");
  std::string pod;
  sync::wire::append_wire(pod, 1, metadata);
  return sync::wire::enveloped("v1", "Pod", pod);
}

TEST(Feed, ObjectsComeInEitherEncoding) {
  Log log;
  auto feed = make_feed(log);
  const std::string broken =
      sync::wire::enveloped("v1", "Pod", std::string("\x0a\x03\x0a\x01x\x1a", 6));
  feed.replace({item("a"), protobuf_item("b"), broken}, "1", {});
  feed.apply({Type::modified, protobuf_item("a"), "2"});
  feed.apply({Type::deleted, protobuf_item("b"), "3"});
  EXPECT_EQ(log.lines, (Lines{"set a", "set b", "set a", "remove b"}));
  EXPECT_EQ(feed.malformed(), 1u);
}

TEST(Feed, AProtobufObjectThatCannotBeReadIsNotGone) {
  Log log;
  auto feed = make_feed(log);
  feed.replace({protobuf_item("a")}, "1", {});
  const std::string whole = protobuf_item("a");
  std::string raw(sync::wire::open_envelope(whole).value().raw);
  // A spec (field 2) whose tolerations (field 22) are a number.
  sync::wire::append_wire(raw, 2, std::string("\xb0\x01\x01", 3));
  feed.replace({sync::wire::enveloped("v1", "Pod", raw)}, "2", {});
  EXPECT_EQ(log.lines, Lines{"set a"});
  EXPECT_EQ(feed.malformed(), 1u);
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

TEST(Feed, PagesAreTakenOverAtOnceAndWhatTheyDoNotHaveGoesAtTheirEnd) {
  Log log;
  auto feed = make_feed(log);
  ASSERT_TRUE(feed.try_page({item("a"), item("b")}, true, {}));
  EXPECT_FALSE(feed.complete());
  ASSERT_TRUE(feed.try_page({item("c")}, false, {}));
  ASSERT_TRUE(feed.try_end_list("1"));
  EXPECT_TRUE(feed.complete());
  feed.apply({Type::added, item("d"), "2"});
  ASSERT_TRUE(feed.try_page({item("a")}, true, {}));
  ASSERT_TRUE(feed.try_page({item("c")}, true, {})) << "it broke off, and began anew";
  ASSERT_TRUE(feed.try_end_list("3"));
  EXPECT_EQ(log.lines, (Lines{"set a", "set b", "set c", "set d", "set a", "set c", "remove a",
                              "remove b", "remove d"}));
}

// If a list exceeds the memory limit, the feed returns to the objects of the last complete list. A
// later list that fits ends this state.
TEST(Feed, AListThatDoesNotFitIsTakenBack) {
  Log log;
  std::size_t heap = 0;
  CloudMemory memory({.heap_bytes = 100}, [&heap] { return heap; });
  int refused = 0;
  auto feed = make_feed(log);
  feed.limit_memory(memory, [&refused] { ++refused; });
  const std::string large = item(std::string(100'000, 'l'));
  ASSERT_TRUE(feed.try_page({item("a")}, true, {}));
  ASSERT_TRUE(feed.try_end_list("1"));
  feed.apply({Type::added, item("b"), "2"});
  ASSERT_TRUE(feed.try_page({item("a"), item("c")}, true, {}));
  heap = 101;
  const Status full = feed.try_page({large}, false, {});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Errc::exhausted);
  EXPECT_FALSE(feed.out_of_memory()) << "told by the list-watch";
  feed.list_failed(sync::watch::failure_of(full.error()));
  EXPECT_TRUE(feed.out_of_memory());
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(log.lines, (Lines{"set a", "set b", "set a", "set c", "remove b", "remove c"}));
  heap = 100;
  ASSERT_TRUE(feed.try_page({item("a"), item("b")}, true, {}));
  EXPECT_TRUE(feed.out_of_memory());
  ASSERT_TRUE(feed.try_end_list("3"));
  EXPECT_FALSE(feed.out_of_memory());
  heap = 101;
  const Status event = feed.try_apply({Type::added, large, "4"});
  ASSERT_FALSE(event);
  EXPECT_TRUE(feed.try_apply({Type::deleted, item("b"), "5"})) << "what shrinks is always taken";
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
