// Every kind of the tables with every field set: JSON to protobuf and back loses nothing, and
// fields that the tables do not have survive, too.

#include <algorithm>
#include <boost/json.hpp>

#include "sync/objects/protobuf.h"
#include "sync/objects/protobuf_carry.h"
#include "sync/objects/protobuf_write.h"
#include "sync/objects/typed.h"
#include "sync/wire/codec.h"
#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/decode.h"
#include "sync/wire/read.h"
#include "test/unit/sync/model/full_objects.h"

namespace holdfast::sync::inline model {
namespace {

std::vector<const StructType*> all_kinds() {
  std::vector<const StructType*> kinds;
  for (const StructType& type : all_types()) {
    if (type.is_kind) kinds.push_back(&type);
  }
  return kinds;
}

TEST(EveryKind, SurvivesProtobufWithAllFields) {
  for (const StructType* type : all_kinds()) {
    SCOPED_TRACE(type->name);
    const json::object before = test::full_object(*type);
    EXPECT_GE(before.size(), 1U);
    const std::string written = objects::write_protobuf(*type, before).value();
    const auto after = objects::shape(*type, objects::read_protobuf(*type, written).value());
    ASSERT_TRUE(after.has_value()) << after.error().what;
    EXPECT_EQ(wire::serialize(after->object), wire::serialize(before));
    EXPECT_TRUE(after->unknown.empty());
  }
  EXPECT_GT(all_kinds().size(), 30U);
}

std::string unknown_field() {
  std::string field;
  wire::append_wire(field, 9999, "of a newer release");
  return field;
}

const Field* find_number(const StructType& type, int inside, int number) {
  for (const Field& field : type.fields) {
    if (field.inside == inside && field.number == number) return &field;
  }
  return nullptr;
}

bool is_embedded(const StructType& type, int number) {
  return std::any_of(type.fields.begin(), type.fields.end(),
                     [number](const Field& field) { return field.inside == number; });
}

// Adds an unknown field at the end of a message and of every message inside it, except entries of
// maps.
std::string with_unknown(const StructType& type, int inside, std::string_view bytes) {
  std::string out;
  wire::WireCursor in(bytes);
  while (in.next()) {
    std::string_view inner;
    const Field* field = find_number(type, inside, in.number());
    const bool embedded = inside == 0 && is_embedded(type, in.number());
    const bool message =
        field != nullptr && field->scalar == Scalar::object && field->shape != Shape::map;
    if ((embedded || message) && in.bytes(inner)) {
      wire::append_wire(
          out, in.number(),
          embedded ? with_unknown(type, in.number(), inner) : with_unknown(*field->type, 0, inner));
    } else {
      out += bytes.substr(in.offset(), in.end_offset() - in.offset());
    }
  }
  return out + unknown_field();
}

std::size_t count_unknown(std::string_view bytes) {
  const std::string wanted = unknown_field();
  std::size_t count = 0;
  for (std::size_t at = bytes.find(wanted); at != std::string_view::npos;
       at = bytes.find(wanted, at + 1)) {
    ++count;
  }
  return count;
}

TEST(EveryKind, KeepsUnknownProtobufFieldsAcrossAChange) {
  for (const StructType* type : all_kinds()) {
    if (type->field("metadata") == nullptr) continue;
    SCOPED_TRACE(type->name);
    const json::object before = test::full_object(*type);
    json::object after = before;
    wire::make_object(after, {"metadata", "labels"})["changed"] = "yes";
    const std::string base = with_unknown(*type, 0, objects::write_protobuf(*type, before).value());
    const std::string carried = objects::carry_changes(*type, base, before, after).value();
    EXPECT_GT(count_unknown(base), 2U);
    EXPECT_EQ(count_unknown(carried), count_unknown(base));
    EXPECT_EQ(objects::shape(*type, objects::read_protobuf(*type, carried).value())->object, after);
  }
}

// A kind that has a struct: what is not a member is kept in `unknown_fields`, at every level.
template <class T>
void keeps_unknown_json() {
  SCOPED_TRACE(T::kind);
  json::object object = test::full_object(known_type(T::kind));
  object["newer"] = json::object{{"a", json::array{1, 2}}};
  for (auto& field : object) {
    if (field.value().is_object()) field.value().get_object()["newer"] = "bmV3";
  }
  const auto decoded = wire::decode<T>(object);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().what;
  json::object again = wire::encode(*decoded);
  again.erase("kind");
  again.erase("apiVersion");
  EXPECT_EQ(again, object);
}

TEST(EveryKind, KeepsUnknownJsonFields) {
  keeps_unknown_json<Node>();
  keeps_unknown_json<Lease>();
  keeps_unknown_json<Pod>();
  keeps_unknown_json<ConfigMap>();
  keeps_unknown_json<Secret>();
  keeps_unknown_json<Event>();
  keeps_unknown_json<Namespace>();
  keeps_unknown_json<PriorityClass>();
  keeps_unknown_json<ReplicaSet>();
  keeps_unknown_json<Deployment>();
  keeps_unknown_json<DaemonSet>();
  keeps_unknown_json<PodDisruptionBudget>();
}

// The struct decoded from protobuf must equal the struct decoded from JSON.
template <class T>
void decodes_alike() {
  SCOPED_TRACE(T::kind);
  const StructType& type = known_type(T::kind);
  const json::object object = test::full_object(type);
  const wire::DecodeOptions lean{.keep_untouched = false, .keep_managed_fields = false};
  const T by_json = wire::decode<T>(object, lean).value();
  const auto by_protobuf = wire::decode_protobuf<T>(objects::write_protobuf(type, object).value());
  ASSERT_TRUE(by_protobuf.has_value()) << by_protobuf.error().what;
  EXPECT_EQ(*by_protobuf, by_json);
}

TEST(EveryKind, HasTheSameStructFromBothEncodings) {
  decodes_alike<Node>();
  decodes_alike<Lease>();
  decodes_alike<Pod>();
  decodes_alike<DaemonSet>();
}

struct NewField {
  std::string_view type;
  std::string_view json;  // of the object that has it
  int number;
};

// Fields of Kubernetes 1.36 by name and number, from upstream's generated.proto. Without them in
// the tables, statuses came back truncated.
const NewField new_fields[] = {
    {"NodeStatus", R"({"declaredFeatures":["GuaranteedQoSPodCPUResize"]})", 14},
    {"NodeSystemInfo", R"({"swap":{"capacity":4294967296}})", 11},
    {"PodStatus",
     R"({"extendedResourceClaimStatus":{"requestMappings":[{"containerName":"c",)"
     R"("resourceName":"x/gpu","requestName":"r"}],"resourceClaimName":"n"}})",
     18},
    {"PodStatus", R"({"allocatedResources":{"cpu":"1"}})", 19},
    {"PodStatus", R"({"resources":{"limits":{"memory":"1Gi"}}})", 20},
    {"PodStatus", R"({"nodeAllocatableResourceClaimStatuses":[{"resourceClaimName":"r"}]})", 21},
    {"ContainerStatus", R"({"stopSignal":"SIGTERM"})", 15},
    {"ResourceHealth", R"({"message":"too hot"})", 6},
    {"VolumeMountStatus", R"({"volumeStatus":{"image":{"imageRef":"sha256:1"}}})", 5},
    {"PodSpec", R"({"hostnameOverride":"h"})", 41},
    {"PodSpec", R"({"schedulingGroup":{"podGroupName":"g"}})", 43},
    {"Container",
     R"({"restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In",)"
     R"("values":[42]}}]})",
     25},
    {"EnvVarSource", R"({"fileKeyRef":{"volumeName":"v","path":"p","key":"k"}})", 5},
    {"VolumeProjection", R"({"podCertificate":{"signerName":"s","keyType":"ED25519"}})", 6},
    {"EndpointHints", R"({"forNodes":[{"name":"edge1"}]})", 2},
    {"CsiDriverSpec", R"({"nodeAllocatableUpdatePeriodSeconds":60})", 9},
    {"CsiDriverSpec", R"({"serviceAccountTokenInSecrets":true})", 10},
    {"CsiDriverSpec", R"({"preventPodSchedulingIfMissing":true})", 11},
};

TEST(EveryKind, HasTheFieldsOf136) {
  for (const NewField& row : new_fields) {
    SCOPED_TRACE(row.json);
    const StructType& type = known_type(row.type);
    const objects::Shaped shaped = objects::shape(type, wire::parse_json(row.json).value()).value();
    EXPECT_TRUE(shaped.unknown.empty());
    const json::object given = wire::parse_json(row.json)->get_object();
    const std::string_view name = given.begin()->key();
    ASSERT_TRUE(shaped.object.contains(name));
    const Field* field = type.field(name);
    ASSERT_NE(field, nullptr);
    EXPECT_EQ(field->number, row.number);
    EXPECT_EQ(field->inside, 0);
    const std::string written = objects::write_protobuf(type, shaped.object).value();
    const json::object read = objects::read_protobuf(type, written).value();
    EXPECT_EQ(objects::shape(type, read)->object.at(name), shaped.object.at(name));
  }
}

}  // namespace
}  // namespace holdfast::sync::inline model
