// Status answers, compared byte for byte with those of a kube-apiserver.

#include "sync/wire/status.h"

#include <array>

namespace holdfast::sync::wire {
namespace {

// The numbers refer to the recorded exchanges with a real kube-apiserver.
struct Recorded {
  int exchange;
  ApiStatus answer;
  std::string_view body;
};

constexpr std::array<std::string_view, 3> accepted = {"application/json", "application/yaml",
                                                      "application/vnd.kubernetes.protobuf"};

const FieldErrors bad_name = {field::invalid(
    "metadata.name", "Bad_Name",
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")};
const FieldErrors no_containers = {field::required("spec.containers")};
const FieldErrors bad_containers = {field::invalid("spec.containers[0].resources.limits[cpu]", "-1",
                                                   "must be greater than or equal to 0"),
                                    field::invalid("spec.containers[0].resources.requests[cpu]",
                                                   "-1", "must be greater than or equal to 0"),
                                    field::duplicate("spec.containers[1].name", "c"),
                                    field::required("spec.containers[1].image")};
const FieldErrors mismatch = {field::invalid_raw("spec.template.metadata.labels",
                                                 R"(map[string]string{"app":"e"})",
                                                 "`selector` does not match template `labels`")};
constexpr std::string_view wrong_uid =
    "the UID in the precondition (wrong) does not match the UID in record "
    "(91e900a9-a4c2-4090-8b0c-92879f80f96e). The object might have been deleted and then "
    "recreated";

const Recorded recorded[] = {
    {18, status::already_exists({"", "namespaces"}, "t"),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"nam)"
     R"(espaces \"t\" already exists","reason":"AlreadyExists","details":{"name":"t","kind)"
     R"(":"namespaces"},"code":409})"},
    {24, status::conflict({"", "nodes"}, "n1"),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Ope)"
     R"(ration cannot be fulfilled on nodes \"n1\": the object has been modified; please a)"
     R"(pply your changes to the latest version and try again","reason":"Conflict","detail)"
     R"(s":{"name":"n1","kind":"nodes"},"code":409})"},
    {27, status::generic(422),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the)"
     R"( server rejected our request due to an error in our request","reason":"Invalid","d)"
     R"(etails":{},"code":422})"},
    {28, status::generic(415),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"415)"
     R"(: Unsupported Media Type","reason":"UnsupportedMediaType","details":{},"code":415})"},
    {30, status::not_found({"", "nodes"}, "nope"),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"nod)"
     R"(es \"nope\" not found","reason":"NotFound","details":{"name":"nope","kind":"nodes")"
     R"(},"code":404})"},
    {31, status::generic(404),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the)"
     R"( server could not find the requested resource","reason":"NotFound","details":{},"c)"
     R"(ode":404})"},
    {37, status::invalid({"", "Node"}, "Bad_Name", bad_name),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Nod)"
     R"(e \"Bad_Name\" is invalid: metadata.name: Invalid value: \"Bad_Name\": a lowercase)"
     R"( RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.')"
     R"(, and must start and end with an alphanumeric character (e.g. 'example.com', regex)"
     R"( used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0)"
     R"~(-9])?)*')","reason":"Invalid","details":{"name":"Bad_Name","kind":"Node","causes":)~"
     R"([{"reason":"FieldValueInvalid","message":"Invalid value: \"Bad_Name\": a lowercase)"
     R"( RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.')"
     R"(, and must start and end with an alphanumeric character (e.g. 'example.com', regex)"
     R"( used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0)"
     R"~(-9])?)*')","field":"metadata.name"}]},"code":422})~"},
    {41, status::unsupported_media_type(accepted),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the)"
     R"( body of the request was in an unknown format - accepted media types include: appl)"
     R"(ication/json, application/yaml, application/vnd.kubernetes.protobuf","reason":"Uns)"
     R"(upportedMediaType","code":415})"},
    {42, status::generic(405),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the)"
     R"( server does not allow this method on the requested resource","reason":"MethodNotA)"
     R"(llowed","details":{},"code":405})"},
    {43, status::generic(406),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"406)"
     R"(: Not Acceptable","reason":"NotAcceptable","details":{},"code":406})"},
    {45, status::invalid({"", "Pod"}, "bad", no_containers),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Pod)"
     R"( \"bad\" is invalid: spec.containers: Required value","reason":"Invalid","details")"
     R"(:{"name":"bad","kind":"Pod","causes":[{"reason":"FieldValueRequired","message":"Re)"
     R"(quired value","field":"spec.containers"}]},"code":422})"},
    {46, status::invalid({"", "Pod"}, "bad", bad_containers),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Pod)"
     R"( \"bad\" is invalid: [spec.containers[0].resources.limits[cpu]: Invalid value: \"-)"
     R"(1\": must be greater than or equal to 0, spec.containers[0].resources.requests[cpu)"
     R"(]: Invalid value: \"-1\": must be greater than or equal to 0, spec.containers[1].n)"
     R"(ame: Duplicate value: \"c\", spec.containers[1].image: Required value]","reason":")"
     R"(Invalid","details":{"name":"bad","kind":"Pod","causes":[{"reason":"FieldValueInval)"
     R"(id","message":"Invalid value: \"-1\": must be greater than or equal to 0","field":)"
     R"("spec.containers[0].resources.limits[cpu]"},{"reason":"FieldValueInvalid","message)"
     R"(":"Invalid value: \"-1\": must be greater than or equal to 0","field":"spec.contai)"
     R"(ners[0].resources.requests[cpu]"},{"reason":"FieldValueDuplicate","message":"Dupli)"
     R"(cate value: \"c\"","field":"spec.containers[1].name"},{"reason":"FieldValueRequire)"
     R"(d","message":"Required value","field":"spec.containers[1].image"}]},"code":422})"},
    {47,
     status::bad_request(
         "the namespace of the provided object does not match the namespace sent on the request"),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the)"
     R"( namespace of the provided object does not match the namespace sent on the request)"
     R"(","reason":"BadRequest","code":400})"},
    {50, status::success(201),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})"},
    {51, status::conflict({"", "pods/binding"}, "p1", "pod p1 is already assigned to node \"n1\""),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Ope)"
     R"(ration cannot be fulfilled on pods/binding \"p1\": pod p1 is already assigned to n)"
     R"(ode \"n1\"","reason":"Conflict","details":{"name":"p1","kind":"pods/binding"},"cod)"
     R"(e":409})"},
    {66, status::too_large_resource_version(99999999, 211),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Tim)"
     R"(eout: Too large resource version: 99999999, current: 211","reason":"Timeout","deta)"
     R"(ils":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource )"
     R"(version"}],"retryAfterSeconds":1},"code":504})"},
    {67,
     status::unexplained("resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing "
                         "\"abc\": invalid syntax"),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"res)"
     R"(ourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid )"
     R"(syntax","code":500})"},
    {76, status::conflict({"", "Pod"}, "p1", wrong_uid),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Ope)"
     R"(ration cannot be fulfilled on Pod \"p1\": the UID in the precondition (wrong) does)"
     R"( not match the UID in record (91e900a9-a4c2-4090-8b0c-92879f80f96e). The object mi)"
     R"(ght have been deleted and then recreated","reason":"Conflict","details":{"name":"p)"
     R"(1","kind":"Pod"},"code":409})"},
    {87,
     status::deleted({"policy", "poddisruptionbudgets"}, "b",
                     "f0d52a3b-a904-4562-8b6d-3b0a5898d392"),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"na)"
     R"(me":"b","group":"policy","kind":"poddisruptionbudgets","uid":"f0d52a3b-a904-4562-8)"
     R"(b6d-3b0a5898d392"}})"},
    {91, status::conflict({"coordination.k8s.io", "leases"}, "n1"),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Ope)"
     R"(ration cannot be fulfilled on leases.coordination.k8s.io \"n1\": the object has be)"
     R"(en modified; please apply your changes to the latest version and try again","reaso)"
     R"(n":"Conflict","details":{"name":"n1","group":"coordination.k8s.io","kind":"leases")"
     R"(},"code":409})"},
    {102, status::invalid({"apps", "Deployment"}, "d2", mismatch),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Dep)"
     R"(loyment.apps \"d2\" is invalid: spec.template.metadata.labels: Invalid value: map[)"
     R"(string]string{\"app\":\"e\"}: `selector` does not match template `labels`","reason)"
     R"(":"Invalid","details":{"name":"d2","group":"apps","kind":"Deployment","causes":[{")"
     R"(reason":"FieldValueInvalid","message":"Invalid value: map[string]string{\"app\":\")"
     R"(e\"}: `selector` does not match template `labels`","field":"spec.template.metadata)"
     R"(.labels"}]},"code":422})"},
    {106, status::unauthorized(),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Una)"
     R"(uthorized","reason":"Unauthorized","code":401})"},
    {107,
     status::forbidden({"", "nodes"}, "",
                       "User \"token-bootstrap-client\" cannot list resource \"nodes\" in API "
                       "group \"\" at the cluster scope"),
     R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"nod)"
     R"(es is forbidden: User \"token-bootstrap-client\" cannot list resource \"nodes\" in)"
     R"( API group \"\" at the cluster scope","reason":"Forbidden","details":{"kind":"node)"
     R"(s"},"code":403})"},
};

TEST(ApiStatus, BodiesAreThoseOfTheRealServer) {
  for (const Recorded& line : recorded) {
    EXPECT_EQ(line.answer.body(), line.body) << line.exchange;
    const auto parsed = parse_json_status(line.body);
    ASSERT_TRUE(parsed.has_value()) << line.exchange;
    EXPECT_EQ(*parsed, line.answer) << line.exchange;
  }
}

}  // namespace
}  // namespace holdfast::sync::wire
