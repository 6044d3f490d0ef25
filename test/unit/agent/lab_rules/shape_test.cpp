// How shape(), the defaults and decoding change the JSON that clients send.

#include "agent/lab/rules/decode.h"
#include "sync/objects/typed.h"

#include <boost/json.hpp>

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

struct ShapeCase {
  std::string name;
  std::string type;
  std::string given;
  std::string shaped;
  std::vector<std::string> unknown = {};
};

class ShapeCases : public testing::TestWithParam<ShapeCase> {};

TEST_P(ShapeCases, GivesWhatAGoStructWould) {
  const ShapeCase& c = GetParam();
  const auto shaped = sync::objects::shape(sync::known_type(c.type), json::parse(c.given));
  ASSERT_TRUE(shaped) << shaped.error().what;
  EXPECT_EQ(json::serialize(shaped->object), c.shaped);
  EXPECT_EQ(shaped->unknown, c.unknown);
}

const ShapeCase shape_cases[] = {
    {"order_is_upstreams", "OwnerReference",
     R"({"uid":"u","name":"n","kind":"K","apiVersion":"v1"})",
     R"({"apiVersion":"v1","kind":"K","name":"n","uid":"u"})"},
    {"zero_values_are_written_where_go_does", "ContainerStatus", R"({"name":"c"})",
     R"({"name":"c","state":{},"lastState":{},"ready":false,"restartCount":0,"image":"",)"
     R"("imageID":""})"},
    {"empty_values_are_left_out", "Container",
     R"({"name":"c","image":"","args":[],"tty":false,"stdin":null})",
     R"({"name":"c","resources":{}})"},
    {"pointers_keep_zero", "Toleration", R"({"key":"k","operator":"","tolerationSeconds":0})",
     R"({"key":"k","tolerationSeconds":0})"},
    {"maps_are_sorted", "ConfigMap", R"({"data":{"b":"2","a":"1"}})",
     R"({"metadata":{"creationTimestamp":null},"data":{"a":"1","b":"2"}})"},
    {"lists_without_omitempty_are_null", "CsiNodeDriver", R"({"name":"d","nodeID":"n"})",
     R"({"name":"d","nodeID":"n","topologyKeys":null})"},
    {"times_become_utc", "PodCondition",
     R"({"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T02:00:00.5+02:00"})",
     R"({"type":"Ready","status":"True","lastProbeTime":null,)"
     R"("lastTransitionTime":"2026-01-01T00:00:00Z"})"},
    {"micro_times_have_six_digits", "LeaseSpec", R"({"renewTime":"2026-01-01T00:00:10.1Z"})",
     R"({"renewTime":"2026-01-01T00:00:10.100000Z"})"},
    {"quantities_become_canonical", "ResourceRequirements",
     R"({"limits":{"cpu":1,"memory":"1024Ki"},"requests":{"cpu":"1000m"}})",
     R"({"limits":{"cpu":"1","memory":"1Mi"},"requests":{"cpu":"1"}})"},
    {"unknown_fields_are_named",
     "PodSpec",
     R"({"containers":[{"name":"a"},{"name":"b","imge":"x"}],"foo":1})",
     R"({"containers":[{"name":"a","resources":{}},{"name":"b","resources":{}}]})",
     {"containers[1].imge", "foo"}},
    {"field_managers_are_dropped_silently", "ObjectMeta",
     R"({"name":"n","managedFields":[{"manager":"m"}]})",
     R"({"name":"n","creationTimestamp":null})"},
};

INSTANTIATE_TEST_SUITE_P(, ShapeCases, testing::ValuesIn(shape_cases),
                         [](const auto& c) { return c.param.name; });

struct BadCase {
  std::string name;
  std::string type;
  std::string given;
  std::string error;
};

class ShapeErrors : public testing::TestWithParam<BadCase> {};

TEST_P(ShapeErrors, AreWordedAsGoWordsThem) {
  const BadCase& c = GetParam();
  const auto shaped = sync::objects::shape(sync::known_type(c.type), json::parse(c.given));
  ASSERT_FALSE(shaped);
  EXPECT_EQ(shaped.error(), (Error{Errc::invalid, c.error, {}}));
}

const BadCase bad_cases[] = {
    {"text_for_a_number", "PodSpec", R"({"priority":"high"})",
     "json: cannot unmarshal string into Go struct field PodSpec.priority of type int32"},
    {"number_out_of_range", "ContainerPort", R"({"containerPort":4294967296})",
     "json: cannot unmarshal number 4294967296 into Go struct field "
     "ContainerPort.containerPort of type int32"},
    {"object_for_a_list", "PodSpec", R"({"containers":{}})",
     "json: cannot unmarshal object into Go struct field PodSpec.containers of type []Container"},
    {"number_for_an_object", "Pod", R"({"spec":{"securityContext":7}})",
     "json: cannot unmarshal number 7 into Go struct field PodSpec.spec.securityContext of type "
     "PodSecurityContext"},
    {"list_for_the_whole", "Pod", "[]", "json: cannot unmarshal array into Go value of type Pod"},
    {"no_time", "Taint", R"({"key":"k","effect":"e","timeAdded":"soon"})",
     R"(parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006")"},
    {"no_base64", "Secret", R"({"data":{"k":"%"}})", "illegal base64 data at input byte 0"},
    {"no_quantity", "ResourceRequirements", R"({"limits":{"cpu":"lots"}})",
     "quantities must match the regular expression "
     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
};

INSTANTIATE_TEST_SUITE_P(, ShapeErrors, testing::ValuesIn(bad_cases),
                         [](const auto& c) { return c.param.name; });

Answer<Decoded> decode(const std::string& text, FieldValidation validation) {
  const sync::printing::Resource* pods = sync::printing::find_resource("", "v1", "pods");
  return decode_object(*pods, pods->versions.front(), json::parse(text), validation);
}

constexpr std::string_view with_unknown =
    R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"x"}],"foo":1}})";

TEST(DecodeObject, WarnsOfUnknownFieldsOrRefusesThem) {
  const std::string text(with_unknown);
  const auto warned = decode(text, FieldValidation::warn);
  ASSERT_TRUE(warned);
  EXPECT_EQ(warned->warnings, (std::vector<std::string>{R"(unknown field "spec.foo")"}));
  const auto ignored = decode(text, FieldValidation::ignore);
  ASSERT_TRUE(ignored);
  EXPECT_EQ(ignored->warnings, std::vector<std::string>{});
  const auto strict = decode(text, FieldValidation::strict);
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error(), sync::wire::status::bad_request(
                                R"(Pod in version "v1" cannot be handled as a Pod: strict )"
                                R"(decoding error: unknown field "spec.foo")"));
}

TEST(DecodeObject, RefusesAnotherGroupsVersion) {
  const auto decoded = decode(R"({"apiVersion":"apps/v1","kind":"Pod"})", FieldValidation::ignore);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error(), sync::wire::status::bad_request(
                                 "the API version in the data (apps/v1) does not match the "
                                 "expected API version (v1)"));
}

TEST(ReadBody, RefusesWhatItCannotRead) {
  const sync::StructType& type = sync::known_type("Pod");
  EXPECT_EQ(read_body("application/json", "", type, "Pod").error().code, 400);
  EXPECT_EQ(read_body("application/json; charset=utf-8", "{}", type, "Pod").value(),
            json::value(json::object()));
  EXPECT_EQ(read_body("text/plain", "{}", type, "Pod").error().code, 415);
  EXPECT_EQ(read_body("application/vnd.kubernetes.protobuf", "{}", type, "Pod").error().code, 400);
}

}  // namespace
}  // namespace holdfast::agent::lab
