// Malicious protobuf: it must give an error that names the place, and never a crash.

#include "sync/objects/protobuf.h"
#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/decode.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/protobuf/list.h"
#include "sync/wire/protobuf/status.h"
#include "test/unit/sync/wire/protobuf/session.h"
#include "test/unit/sync/wire/protobuf/wire.h"

namespace holdfast::sync::wire {
namespace {

// A varint field.
std::string number_wire(int number, char value) {
  return std::string{static_cast<char>(number << 3), value};
}

// Calls every function that reads such bytes. Returns whether the object could be read.
bool read_all_ways(std::string_view kind, std::string_view bytes) {
  (void)read_protobuf_header(bytes);
  (void)split_protobuf_list(bytes);
  (void)parse_protobuf_status(bytes);
  const bool pod = decode_protobuf<Pod>(bytes).has_value();
  const bool node = decode_protobuf<Node>(bytes).has_value();
  const bool lease = decode_protobuf<Lease>(bytes).has_value();
  (void)decode_protobuf<DaemonSet>(bytes);
  return kind == "Pod" ? pod : kind == "Node" ? node : kind == "Lease" && lease;
}

// The longest recorded object of each kind that can be decoded.
std::vector<std::pair<std::string, std::string>> samples() {
  std::map<std::string, std::string> longest;
  for (const test::Recorded& object : test::recorded_objects()) {
    std::string& kept = longest[std::string(open_envelope(object.bytes).value().kind)];
    if (object.bytes.size() > kept.size()) kept = object.bytes;
  }
  return {{"Pod", longest["Pod"]}, {"Node", longest["Node"]}, {"Lease", longest["Lease"]}};
}

TEST(HostileProtobuf, CutOffAtEveryByte) {
  for (const auto& [kind, bytes] : samples()) {
    EXPECT_TRUE(read_all_ways(kind, bytes));
    const Envelope envelope = open_envelope(bytes).value();
    const std::size_t end = envelope.raw_offset + envelope.raw.size();
    for (std::size_t size = 0; size < end; ++size) {
      const bool read = read_all_ways(kind, std::string(bytes, 0, size));
      // In protobuf an empty input is an object without fields.
      EXPECT_EQ(read, size == 0) << kind << " " << size;
    }
  }
}

// An empty message takes two or three bytes of input, but a hundred times as much memory.
TEST(HostileProtobuf, MillionsOfEmptyMessagesAreRefused) {
  const auto pod_of = [](std::string_view message, std::size_t count) {
    std::string spec;
    for (std::size_t i = 0; i < count; ++i) spec += message;
    std::string pod;
    append_wire(pod, 2, spec);
    return enveloped("v1", "Pod", pod);
  };
  const std::string_view toleration("\xb2\x01\x00", 3);
  EXPECT_TRUE(decode_protobuf<Pod>(pod_of(toleration, 10'000)));
  const auto many = decode_protobuf<Pod>(pod_of(toleration, 30'000));
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().what.find("too many items"), std::string::npos) << many.error().what;
  for (const std::string_view message : {toleration, std::string_view("\x12\x00", 2)}) {
    const auto huge = decode_protobuf<Pod>(pod_of(message, 1'000'000));
    ASSERT_FALSE(huge);
    EXPECT_EQ(huge.error().code, Errc::exhausted) << huge.error().what;
  }
}

TEST(HostileProtobuf, EveryByteTurned) {
  for (const auto& [kind, bytes] : samples()) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const unsigned flip : {0x01U, 0x02U, 0x80U, 0xffU}) {
        std::string turned = bytes;
        turned[at] = static_cast<char>(static_cast<unsigned char>(turned[at]) ^ flip);
        (void)read_all_ways(kind, turned);
      }
    }
  }
}

TEST(HostileProtobuf, ErrorsNameThePlace) {
  const std::string toleration = wire_field(22, wire_field(1, "ok"));
  const std::pair<std::string, std::string> cases[] = {
      {wire_field(1, wire_field(1, "\xff")), "metadata.name: invalid UTF-8"},
      {wire_field(1, wire_field(1, "\xed\xa0\x80")), "metadata.name: invalid UTF-8"},
      {wire_field(1, wire_field(11, wire_field(1, "a") + wire_field(2, "\xc0\x80"))),
       "metadata.labels[a]: invalid UTF-8"},
      {wire_field(1, wire_field(14, "\xf4\x90\x80\x80")), "metadata.finalizers[0]: invalid UTF-8"},
      {wire_field(2, toleration + wire_field(22, wire_field(3, "\x80"))),
       "spec.tolerations[1].value: invalid UTF-8"},
      {wire_field(2, toleration + wire_field(22, number_wire(3, 1))),
       "spec.tolerations[1]: field 3: wrong wire type"},
      {wire_field(2, wire_field(22, wire_field(5, ""))),
       "spec.tolerations[0]: field 5: wrong wire type"},
      {wire_field(2, wire_field(32, wire_field(1, "cpu") + wire_field(2, number_wire(1, 1)))),
       "spec.overhead[cpu]: field 1: wrong wire type"},
      {wire_field(1, wire_field(11, wire_field(1, "a") + number_wire(2, 1))),
       "metadata.labels[a]: field 2: wrong wire type"},
      {wire_field(1, wire_field(8, wire_field(1, ""))),
       "metadata.creationTimestamp: field 1: wrong wire type"},
      {wire_field(1, wire_field(8, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f")),
       "metadata.creationTimestamp: time out of range"},
      {number_wire(1, 1), "field 1: wrong wire type"},
      {wire_field(1, "") + std::string("\x9b\x01\x9c\x01", 4), "field 19: unknown wire type"},
      {wire_field(1, "") + std::string("\x12\xff\xff\xff\xff\x0f"), "protobuf at byte 2: cut off"},
      {wire_field(1, "") + wire_field(2, "\x12\x7f"),
       "protobuf at byte 2: field 2 is broken or nested too deep"},
      {wire_field(1, "") + std::string("\x00\x01", 2), "protobuf at byte 2: no field number"},
      {std::string(11, '\xff'), "protobuf at byte 0: a number of more than 64 bits"},
  };
  for (const auto& [bytes, what] : cases) {
    const auto pod = decode_protobuf<Pod>(bytes);
    ASSERT_FALSE(pod.has_value()) << what;
    EXPECT_EQ(pod.error(), (Error{Errc::invalid, "Pod: " + what}));
  }
}

TEST(HostileProtobuf, WhatTheSchemaPrintsIsText) {
  const auto quantity = [](const std::string& text) {
    return wire_field(2, wire_field(32, wire_field(1, "cpu") + wire_field(2, wire_field(1, text))));
  };
  const auto created = [](const std::string& time) { return wire_field(1, wire_field(8, time)); };
  const std::tuple<std::string, std::string, std::string> cases[] = {
      {"v\xff", "", "proto: invalid UTF-8"},
      {"v1", quantity("\xff"), "proto: invalid UTF-8"},
      {"v1", created(std::string("\x08\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f")),
       "proto: time out of range"},
      {"v1", created(std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f")),
       "proto: time out of range"},
      // The lower 32 bits of this tag are those of field 1.
      {"v1", std::string("\x8a\x80\x80\x80\x80\x01\x00", 7), "proto: illegal tag"},
      {"v1", std::string("\x02\x00", 2), "proto: illegal tag"},
  };
  for (const auto& [version, bytes, what] : cases) {
    const auto printed = objects::json_of_protobuf(enveloped(version, "Pod", bytes));
    ASSERT_FALSE(printed.has_value()) << *printed;
    EXPECT_EQ(printed.error(), (Error{Errc::invalid, what}));
  }
}

TEST(HostileProtobuf, DeepNestingEnds) {
  // Unknown fields can be nested in groups, which are never closed here, or closed in order.
  const std::string open(100'000, '\x7b');
  const std::string closed = std::string(100, '\x7b') + std::string(100, '\x7c');
  for (const std::string& bytes :
       {open, closed, wire_field(2, open), wire_field(1, wire_field(13, closed))}) {
    EXPECT_FALSE(decode_protobuf<Pod>(bytes).has_value());
    EXPECT_FALSE(decode_protobuf<Lease>(enveloped("", "Lease", bytes)).has_value());
  }
  std::string nested;
  for (int depth = 0; depth < 10'000; ++depth) nested = wire_field(2, nested);
  (void)decode_protobuf<Pod>(nested);
  (void)decode_protobuf<DaemonSet>(nested);
  EXPECT_FALSE(split_protobuf_list(nested).has_value());
}

}  // namespace
}  // namespace holdfast::sync::wire
