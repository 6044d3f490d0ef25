// Error answers (Statuses) in protobuf.

#include "sync/wire/protobuf/status.h"

#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "test/unit/sync/wire/protobuf/session.h"

namespace holdfast::sync::wire {
namespace {

TEST(ProtobufStatus, ARealServersAreRead) {
  std::vector<std::string> messages;
  for (const test::Recorded& recorded : test::recorded_objects()) {
    if (open_envelope(recorded.bytes).value().kind != "Status") continue;
    const auto status = parse_status(recorded.bytes);
    ASSERT_TRUE(status.has_value()) << status.error().what;
    EXPECT_TRUE(status->failed());
    messages.push_back(to_error(status->code, recorded.bytes).what);
    if (status->reason != "NotFound") continue;
    EXPECT_EQ(status->code, 404);
    EXPECT_EQ(status->details.value().name, "edge1");
  }
  EXPECT_GT(messages.size(), 8u);
  EXPECT_EQ(messages.front(), "404 csinodes.storage.k8s.io \"edge1\" not found");
}

TEST(ProtobufStatus, EveryFieldArrives) {
  const auto wire = [](int number, std::string_view bytes) {
    std::string out;
    append_wire(out, number, bytes);
    return out;
  };
  const std::string cause = wire(1, "cr") + wire(2, "cm") + wire(3, "cf");
  const std::string details =
      wire(1, "n") + wire(2, "g") + wire(3, "k") + wire(4, cause) + "\x28\x09" + wire(6, "u");
  const std::string raw =
      wire(2, "Failure") + wire(3, "m") + wire(4, "r") + wire(5, details) + "\x30\xad\x03";
  const ApiStatus expected{.status = "Failure",
                           .message = "m",
                           .reason = "r",
                           .details = StatusDetails{"n", "g", "k", "u", {{"cr", "cm", "cf"}}, 9},
                           .code = 429};
  EXPECT_EQ(*parse_status(enveloped("v1", "Status", raw)), expected);
  EXPECT_EQ(encode_protobuf_status(expected), enveloped("v1", "Status", raw));
}

TEST(ProtobufStatus, WhatIsNoneIsAnError) {
  EXPECT_EQ(parse_status(enveloped("v1", "Pod", "")).error(),
            (Error{Errc::invalid, "not a Status: kind \"Pod\""}));
  EXPECT_EQ(parse_status(enveloped("v1", "Status", "\x12")).error(),
            (Error{Errc::invalid, "protobuf at byte 20: cut off"}));
}

}  // namespace
}  // namespace holdfast::sync::wire
