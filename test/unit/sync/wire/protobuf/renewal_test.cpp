#include "sync/wire/protobuf/renewal.h"

#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/decode.h"
#include "sync/wire/protobuf/envelope.h"
#include "test/unit/sync/wire/protobuf/session.h"
#include "test/unit/sync/wire/protobuf/wire.h"

namespace holdfast::sync::wire {
namespace {

// A renewal has the name, the namespace and the renew time that decode_protobuf() reads.
TEST(ProtobufRenewal, IsWhatTheDecoderReads) {
  int leases = 0;
  std::string longest;
  for (const test::Recorded& object : test::recorded_objects()) {
    if (open_envelope(object.bytes).value().kind != "Lease") continue;
    const Lease whole = decode_protobuf<Lease>(object.bytes).value();
    if (whole.metadata.name.empty()) continue;  // not created yet
    Lease expect;
    expect.metadata.name = whole.metadata.name;
    expect.metadata.namespace_name = whole.metadata.namespace_name;
    expect.spec.renew_time = whole.spec.renew_time;
    EXPECT_TRUE(expect.spec.renew_time) << object.where;
    EXPECT_EQ(read_protobuf_renewal(object.bytes).value(), expect) << object.where;
    if (object.bytes.size() > longest.size()) longest = object.bytes;
    ++leases;
  }
  EXPECT_GT(leases, 30);
  const Envelope envelope = open_envelope(longest).value();
  const std::size_t end = envelope.raw_offset + envelope.raw.size();
  for (std::size_t size = 0; size < end; ++size) {
    EXPECT_FALSE(read_protobuf_renewal(std::string(longest, 0, size))) << size;
  }
}

TEST(ProtobufRenewal, MayHaveNoTimeOrSpec) {
  const std::string metadata = wire_field(1, wire_field(1, "a"));
  for (const std::string& raw :
       {metadata, metadata + wire_field(2, ""), metadata + wire_field(2, wire_field(4, ""))}) {
    const auto lease = read_protobuf_renewal(enveloped("", "Lease", raw));
    ASSERT_TRUE(lease);
    EXPECT_EQ(lease->spec.renew_time, std::nullopt);
  }
}

TEST(ProtobufRenewal, BadOnesAreRefused) {
  const std::string metadata = wire_field(1, wire_field(1, "a"));
  const std::pair<std::string, std::string> cases[] = {
      {R"({"metadata":{"name":"a"}})", "Lease: not Kubernetes protobuf: no \"k8s\" in front"},
      {enveloped("v1", "Pod", metadata), "Lease: kind: expected Lease, found Pod"},
      {enveloped("", "Lease", ""), "Lease: metadata.name: missing"},
      {enveloped("", "Lease", wire_field(1, wire_field(1, "\xff"))),
       "Lease: protobuf at byte 19: invalid UTF-8"},
      {enveloped("", "Lease", metadata + wire_field(2, wire_field(4, wire_field(1, "")))),
       "Lease: protobuf at byte 26: wrong wire type"},
      {enveloped("", "Lease",
                 metadata + wire_field(2, wire_field(4, "\x08\xff\xff\xff\xff\xff\x01"))),
       "Lease: protobuf at byte 26: time out of range"},
      {enveloped("", "Lease", metadata + "\x12\x09"), "Lease: protobuf at byte 22: cut off"},
  };
  for (const auto& [bytes, what] : cases) {
    const auto lease = read_protobuf_renewal(bytes);
    ASSERT_FALSE(lease) << what;
    EXPECT_EQ(lease.error().what, what);
  }
}

}  // namespace
}  // namespace holdfast::sync::wire
