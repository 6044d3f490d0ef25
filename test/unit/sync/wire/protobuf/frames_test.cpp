// The protobuf watch stream, split at every possible place, and its events.

#include "sync/wire/protobuf/frames.h"

#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "test/unit/sync/wire/protobuf/session.h"

namespace holdfast::sync::wire {
namespace {

using Type = WatchEvent::Type;

// A Pod that has only a resourceVersion.
std::string pod(std::string_view version) {
  std::string metadata;
  append_wire(metadata, 6, version);
  std::string raw;
  append_wire(raw, 1, metadata);
  return enveloped("v1", "Pod", raw);
}

void feed(ProtobufFrames& splitter, std::string_view bytes, std::vector<std::string>& all) {
  const auto some = splitter.feed(bytes);
  ASSERT_TRUE(some.has_value()) << some.error().what;
  all.insert(all.end(), some->begin(), some->end());
}

TEST(ProtobufFrames, CutAnywhereTheyComeOutTheSame) {
  const std::string first = encode_protobuf_event(Type::added, pod("1"));
  const std::string second = encode_protobuf_event(Type::bookmark, pod("2"));
  const std::string stream = first + std::string(4, '\0') + second;
  const std::vector<std::string> frames = {first.substr(4), "", second.substr(4)};
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    ProtobufFrames splitter;
    std::vector<std::string> all;
    feed(splitter, stream.substr(0, cut), all);
    const bool between = cut == 0 || cut == first.size() || cut == first.size() + 4;
    EXPECT_EQ(splitter.idle(), between || cut == stream.size()) << cut;
    feed(splitter, stream.substr(cut), all);
    EXPECT_EQ(all, frames) << cut;
    EXPECT_TRUE(splitter.idle());
  }
  ProtobufFrames splitter;
  std::vector<std::string> all;
  for (const char& c : stream) feed(splitter, std::string_view(&c, 1), all);
  EXPECT_EQ(all, frames);
}

TEST(ProtobufFrames, ALengthOverTheLimitIsRefusedBeforeItsBytesCome) {
  ProtobufFrames splitter({.document_bytes = 10});
  const std::string fits = std::string("\0\0\0\x0a", 4) + "0123456789";
  EXPECT_EQ(*splitter.feed(fits), std::vector<std::string>{"0123456789"});
  EXPECT_EQ(splitter.feed(std::string("\0\0\0\x0b", 4)).error(),
            (Error{Errc::exhausted, "watch stream: an event of 11 bytes, more than 10"}));
  EXPECT_EQ(splitter.feed(fits).error(),
            (Error{Errc::corrupt, "watch stream: unusable after an earlier error"}));
  ProtobufFrames huge;
  EXPECT_EQ(huge.feed("\xff\xff\xff\xff").error().code, Errc::exhausted);
}

TEST(ProtobufFrames, EventsAreReadAndWritten) {
  for (const Type type : {Type::added, Type::modified, Type::deleted, Type::bookmark}) {
    const std::string frame = encode_protobuf_event(type, pod("17"));
    EXPECT_EQ(*decode_protobuf_event(std::string_view(frame).substr(4)),
              (WatchEvent{type, pod("17"), "17"}));
  }
  const std::string status = enveloped("v1", "Status", "");
  const std::string error = encode_protobuf_event(Type::error, status);
  EXPECT_EQ(*decode_protobuf_event(std::string_view(error).substr(4)),
            (WatchEvent{Type::error, status, ""}));
}

std::string event_of(std::string_view type, std::string_view object) {
  std::string extension;
  append_wire(extension, 1, object);
  std::string event;
  append_wire(event, 1, type);
  append_wire(event, 2, extension);
  return event;
}

TEST(ProtobufFrames, BrokenEventsSayWhatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "unknown type \"\""},
      {event_of("NEWS", pod("1")), "unknown type \"NEWS\""},
      {event_of("ADDED", ""), "no object"},
      {event_of("ADDED", R"({"metadata":{}})"), "no object"},
      {event_of("ADDED", pod("")), "object without resourceVersion"},
      {event_of("ADDED", protobuf_magic), "protobuf envelope: nothing in it"},
      {event_of("\xff", pod("1")), "protobuf at byte 0: invalid UTF-8"},
      {event_of("ADDED", pod("1")).substr(0, 9), "protobuf at byte 7: cut off"},
  };
  for (const auto& [bytes, what] : cases) {
    const auto event = decode_protobuf_event(bytes);
    ASSERT_FALSE(event.has_value()) << what;
    EXPECT_EQ(event.error(), (Error{Errc::corrupt, "watch event: " + what}));
  }
}

TEST(ProtobufFrames, ARealServersWatchesAreRead) {
  int events = 0;
  for (const test::RecordedWatch& watch : test::recorded_watches()) {
    ProtobufFrames splitter;
    for (const std::string& chunk : watch.chunks) {
      const std::vector<std::string> frames = splitter.feed(chunk).value();
      for (const std::string& frame : frames) {
        const auto event = decode_protobuf_event(frame);
        ASSERT_TRUE(event.has_value()) << watch.where << ": " << event.error().what;
        EXPECT_EQ(encode_protobuf_event(event->type, event->object).substr(4), frame);
        ++events;
      }
    }
    EXPECT_TRUE(splitter.idle()) << watch.where;
  }
  EXPECT_GT(events, 10);
}

}  // namespace
}  // namespace holdfast::sync::wire
