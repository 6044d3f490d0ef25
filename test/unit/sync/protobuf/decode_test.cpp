// Objects from protobuf: a real kubelet's equal what the lab's schema reads of them, and every
// field that we know arrives.

#include "sync/protobuf/decode.h"

#include <boost/json.hpp>

#include "sync/api/codec.h"
#include "sync/apiserver/protobuf.h"
#include "sync/apiserver/typed.h"
#include "sync/protobuf/envelope.h"
#include "test/unit/sync/protobuf/session.h"

namespace holdfast::sync {
namespace {

constexpr DecodeOptions lean{.keep_untouched = false, .keep_managed_fields = false};

// The other way to a struct: protobuf to JSON by the lab's tables, JSON to the struct.
template <class T>
T by_schema(const Envelope& envelope) {
  const StructType& type = *find_type(T::kind);
  const auto object = read_protobuf(type, envelope.raw);
  const auto shaped = shape(type, object.value(), T::kind, T::api_version);
  return decode<T>(shaped.value().object, lean).value();
}

template <class T>
bool both_agree(const test::Recorded& recorded) {
  const Envelope envelope = open_envelope(recorded.bytes).value();
  if (envelope.kind != T::kind) return false;
  const auto decoded = decode_protobuf<T>(recorded.bytes);
  EXPECT_TRUE(decoded.has_value()) << recorded.where << ": " << decoded.error().what;
  if (!decoded) return true;
  const T expected = by_schema<T>(envelope);
  EXPECT_EQ(encode(*decoded), encode(expected)) << recorded.where;
  EXPECT_EQ(*decoded, expected) << recorded.where;
  EXPECT_EQ(*decode_protobuf<T>(envelope.raw), expected) << "without envelope";
  return true;
}

TEST(DecodeProtobuf, WhatAKubeletSawIsWhatTheSchemaReads) {
  int nodes = 0;
  int pods = 0;
  int leases = 0;
  for (const test::Recorded& recorded : test::recorded_objects()) {
    nodes += both_agree<Node>(recorded) ? 1 : 0;
    pods += both_agree<Pod>(recorded) ? 1 : 0;
    leases += both_agree<Lease>(recorded) ? 1 : 0;
  }
  EXPECT_GT(nodes, 40);
  EXPECT_GT(pods, 20);
  EXPECT_GT(leases, 60);
}

TEST(DecodeProtobuf, TheEnvelopeMustNameTheKind) {
  EXPECT_EQ(decode_protobuf<Node>(enveloped("v1", "Pod", "")).error(),
            (Error{Errc::invalid, "Node: kind: expected Node, found Pod"}));
  EXPECT_TRUE(decode_protobuf<Pod>(enveloped("v1", "Pod", "")).has_value());
  EXPECT_EQ(*decode_protobuf<Pod>(""), Pod{});
}

}  // namespace
}  // namespace holdfast::sync
