// The JSON watch stream, split at every possible place, and its events.

#include "sync/wire/frames.h"

namespace holdfast::sync::wire {
namespace {

using Documents = std::vector<std::string>;

const Documents documents = {R"({"type":"ADDED","object":{"a":"}\"{","b":[1,{}]}})",
                             R"({"x":"\\"})", R"({})"};
const std::string stream = documents[0] + "\n" + documents[1] + " \r\n\t" + documents[2] + "\n";

// Feeds a splitter and collects its documents.
void feed(FrameSplitter& splitter, std::string_view bytes, Documents& all) {
  const auto some = splitter.feed(bytes);
  ASSERT_TRUE(some.has_value()) << some.error().what;
  all.insert(all.end(), some->begin(), some->end());
}

TEST(Frames, CutAnywhereTheyComeOutTheSame) {
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    FrameSplitter splitter;
    Documents all;
    feed(splitter, stream.substr(0, cut), all);
    feed(splitter, stream.substr(cut), all);
    EXPECT_EQ(all, documents) << cut;
    EXPECT_TRUE(splitter.idle());
  }
  FrameSplitter splitter;
  Documents all;
  for (const char& c : stream) feed(splitter, std::string_view(&c, 1), all);
  EXPECT_EQ(all, documents);
}

TEST(Frames, AnUnfinishedOneIsSeen) {
  FrameSplitter splitter;
  EXPECT_EQ(*splitter.feed("{}\n{\"a\""), Documents{"{}"});
  EXPECT_FALSE(splitter.idle());
}

TEST(Frames, WhatIsNoObjectEndsTheStream) {
  FrameSplitter splitter;
  EXPECT_EQ(splitter.feed("{}\n[]").error(),
            (Error{Errc::corrupt, "watch stream: expected an object"}));
  EXPECT_EQ(splitter.feed("{}").error(),
            (Error{Errc::corrupt, "watch stream: unusable after an earlier error"}));
}

TEST(Frames, LimitsHold) {
  FrameSplitter small({.document_bytes = 10, .depth = 3});
  EXPECT_EQ(*small.feed("{\"a\":\"bc\"}"), Documents{"{\"a\":\"bc\"}"});
  EXPECT_EQ(small.feed("{\"a\":\"bcdefghij").error(),
            (Error{Errc::exhausted, "watch stream: an event of more than 10 bytes"}));
  FrameSplitter piecemeal({.document_bytes = 10, .depth = 3});
  EXPECT_TRUE(piecemeal.feed("{\"a\":\"bcd").has_value());
  EXPECT_FALSE(piecemeal.feed("efghij").has_value());
  FrameSplitter flat({.document_bytes = 100, .depth = 3});
  EXPECT_EQ(*flat.feed("{\"a\":[{}]}"), Documents{"{\"a\":[{}]}"});
  EXPECT_EQ(flat.feed("{\"a\":[[[").error(),
            (Error{Errc::exhausted, "watch stream: nested too deep"}));
}

TEST(WatchEvents, KeepTheObjectsBytes) {
  const std::string pod = R"({ "kind":"Pod","metadata":{"resourceVersion":"5" } , "x":1.0})";
  const std::vector<std::pair<std::string, WatchEvent::Type>> types = {
      {"ADDED", WatchEvent::Type::added},
      {"MODIFIED", WatchEvent::Type::modified},
      {"DELETED", WatchEvent::Type::deleted},
      {"BOOKMARK", WatchEvent::Type::bookmark}};
  for (const auto& [name, type] : types) {
    const std::string document = R"({"type":")" + name + R"(","object":)" + pod + "}";
    EXPECT_EQ(decode_event(document), (WatchEvent{type, pod, "5"}));
    EXPECT_EQ(encode_event(type, pod), document + "\n");
  }
  EXPECT_EQ(decode_event(R"({"object":{"kind":"Status","code":410},"type":"ERROR"})"),
            (WatchEvent{WatchEvent::Type::error, R"({"kind":"Status","code":410})", ""}));
}

struct Bad {
  std::string_view document;
  std::string_view error;
};

const Bad bads[] = {
    {"{", "watch event: JSON at byte 1: expected a key"},
    {"{}", "watch event: unknown type \"\""},
    {R"({"type":"GONE","object":{}})", "watch event: unknown type \"GONE\""},
    {R"({"type":"ADDED"})", "watch event: no object"},
    {R"({"type":"ADDED","object":null})", "watch event: no object"},
    {R"({"type":"ADDED","object":{"metadata":{}}})", "watch event: object without resourceVersion"},
    {R"({"type":"ADDED","object":{"metadata":{"resourceVersion":5}}})",
     "watch event: JSON at byte 31: expected a string"},
    {R"({"type":"ADDED","object":{}} {})", "watch event: JSON at byte 29: more after the end"},
};

TEST(WatchEvents, RefusesOthers) {
  for (const Bad& bad : bads) {
    const auto event = decode_event(bad.document);
    ASSERT_FALSE(event.has_value()) << bad.document;
    EXPECT_EQ(event.error(), (Error{Errc::corrupt, std::string(bad.error)}));
  }
}

}  // namespace
}  // namespace holdfast::sync::wire
