#include "sync/wire/lease_renewal.h"

#include "sync/wire/codec.h"

namespace holdfast::sync::wire {
namespace {

// A renewal has the name, the namespace and the renew time that the codec reads.
TEST(LeaseRenewal, IsWhatTheCodecReads) {
  const std::string bytes =
      R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"a","namespace":)"
      R"("kube-node-lease","uid":"u","managedFields":[{"fieldsV1":{"f:spec":{}}}]},)"
      R"("spec":{"holderIdentity":"a","leaseDurationSeconds":40,)"
      R"("renewTime":"2026-01-02T03:04:05.678901Z"}})";
  const Lease whole = decode_bytes<Lease>(bytes).value();
  Lease expect;
  expect.metadata.name = "a";
  expect.metadata.namespace_name = "kube-node-lease";
  expect.spec.renew_time = whole.spec.renew_time;
  ASSERT_TRUE(expect.spec.renew_time);
  EXPECT_EQ(read_renewal(bytes).value(), expect);
}

TEST(LeaseRenewal, MayHaveNoTimeOrSpec) {
  for (const char* bytes :
       {R"({"metadata":{"name":"a"}})", R"({"metadata":{"name":"a"},"spec":null})",
        R"({"metadata":{"name":"a"},"spec":{"renewTime":null}})"}) {
    const auto lease = read_renewal(bytes);
    ASSERT_TRUE(lease) << bytes;
    EXPECT_EQ(lease->spec.renew_time, std::nullopt);
  }
}

TEST(LeaseRenewal, BadOnesAreRefused) {
  for (const char* bytes :
       {"", "{", "[]", "7", R"({"metadata":{"name":7}})", R"({"metadata":{}})",
        R"({"kind":"Pod","metadata":{"name":"a"}})", R"({"metadata":{"name":"a"},"spec":[]})",
        R"({"metadata":{"name":"a"},"spec":{"renewTime":"soon"}})",
        R"({"metadata":{"name":"a"}} {})"}) {
    EXPECT_FALSE(read_renewal(bytes)) << bytes;
  }
}

}  // namespace
}  // namespace holdfast::sync::wire
