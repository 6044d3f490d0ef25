// CustomResourceDefinitions through the API server: discovery, validation, pruning, defaults,
// subresources, columns, versions, deletion, and refusals of bad definitions.

#include "sync/wire/read.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

namespace holdfast::test {
namespace {

namespace json = boost::json;

constexpr std::string_view definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr std::string_view sites = "/apis/edge.example.com/v1/namespaces/default/sites";

json::object definition() {
  return json::parse(R"({"metadata":{"name":"sites.edge.example.com"},"spec":{
    "group":"edge.example.com","scope":"Namespaced",
    "names":{"plural":"sites","kind":"Site","shortNames":["si"]},
    "conversion":{"strategy":"None"},
    "versions":[
      {"name":"v1","served":true,"storage":true,
       "subresources":{"status":{},"scale":{"specReplicasPath":".spec.nodes",
                                            "statusReplicasPath":".status.nodes"}},
       "additionalPrinterColumns":[{"name":"Nodes","type":"integer","jsonPath":".spec.nodes"}],
       "schema":{"openAPIV3Schema":{"type":"object","properties":{
         "spec":{"type":"object","required":["nodes"],"properties":{
           "nodes":{"type":"integer","minimum":1,"maximum":10},
           "link":{"type":"string","enum":["4g","fiber"],"default":"4g"},
           "code":{"type":"string","pattern":"^[a-z]+$","maxLength":5},
           "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
         "status":{"type":"object","properties":{"nodes":{"type":"integer"}}}}}}},
      {"name":"v1beta1","served":true,"storage":false,"deprecated":true,
       "schema":{"openAPIV3Schema":{"type":"object",
                                    "x-kubernetes-preserve-unknown-fields":true}}}]}})")
      .as_object();
}

json::object site(std::string_view name, std::string_view spec) {
  json::object made = {{"apiVersion", "edge.example.com/v1"}, {"kind", "Site"}};
  made["metadata"] = json::object{{"name", name}};
  made["spec"] = json::parse(spec);
  return made;
}

std::string text_in(const json::object& from, sync::wire::Path path) {
  return std::string(sync::wire::dig_text(from, path));
}

class CustomResources : public testing::Test {
 protected:
  CustomResources() {
    const TestResponse made = send("POST", definitions, definition());
    EXPECT_EQ(made.status, 201) << made.body;
  }
  TestResponse send(std::string_view method, std::string_view target, const json::object& body) {
    return fixture.ask({.method = std::string(method),
                        .target = std::string(target),
                        .body = json::serialize(body),
                        .content_type = "application/json"});
  }
  std::string message(std::string_view method, std::string_view target, const json::object& body) {
    const TestResponse answer = send(method, target, body);
    return std::to_string(answer.status) + " " + text_in(answer.object(), {"message"});
  }

  ApiServerFixture fixture;
};

TEST_F(CustomResources, AreInDiscovery) {
  const json::object crd = fixture.get(std::string(definitions) + "/sites.edge.example.com");
  EXPECT_EQ(json::serialize(sync::wire::dig_object(crd, {"status", "acceptedNames"})),
            R"({"plural":"sites","singular":"site","shortNames":["si"],"kind":"Site",)"
            R"("listKind":"SiteList"})");
  EXPECT_EQ(json::serialize(sync::wire::dig_list(crd, {"status", "storedVersions"})), R"(["v1"])");
  const json::object group = fixture.get("/apis/edge.example.com");
  EXPECT_EQ(json::serialize(group.at("preferredVersion")),
            R"({"groupVersion":"edge.example.com/v1","version":"v1"})");
  std::string names;
  const json::object resources = fixture.get("/apis/edge.example.com/v1");
  for (const json::value& each : resources.at("resources").as_array()) {
    names += text_in(each.as_object(), {"name"}) + " ";
  }
  EXPECT_EQ(names, "sites sites/status sites/scale ");
  const json::object openapi = fixture.get("/openapi/v3/apis/edge.example.com/v1");
  EXPECT_TRUE(sync::wire::dig_object(openapi, {"components", "schemas"})
                  .contains("com.example.edge.v1.Site"));
}

TEST_F(CustomResources, GetDefaultsAndLoseUnknownFields) {
  const TestResponse made =
      send("POST", sites, site("a", R"({"nodes":2,"other":1,"free":{"x":{"y":1}}})"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(json::serialize(made.object().at("spec")),
            R"({"nodes":2,"free":{"x":{"y":1}},"link":"4g"})");
  EXPECT_EQ(made.headers.get("Warning"), R"(299 - "unknown field \"spec.other\"")");
  EXPECT_EQ(sync::wire::dig_int(made.object(), {"metadata", "generation"}), 1);
  EXPECT_EQ(message("POST", std::string(sites) + "?fieldValidation=Strict",
                    site("b", R"({"nodes":2,"other":1})")),
            "400 Site in version \"v1\" cannot be handled as a Site: strict decoding error: "
            "unknown field \"spec.other\"");
}

TEST_F(CustomResources, AreValidated) {
  struct Case {
    std::string_view spec;
    std::string_view message;
  };
  const Case cases[] = {
      {R"({})", "spec.nodes: Required value"},
      {R"({"nodes":"x"})",
       "spec.nodes: Invalid value: \"string\": spec.nodes in body must be of type integer: "
       "\"string\""},
      {R"({"nodes":11})",
       "spec.nodes: Invalid value: 11: spec.nodes in body should be less than or equal to 10"},
      {R"({"nodes":0})",
       "spec.nodes: Invalid value: 0: spec.nodes in body should be greater than or equal to 1"},
      {R"({"nodes":1,"link":"x"})",
       "spec.link: Unsupported value: \"x\": supported values: \"4g\", \"fiber\""},
      {R"({"nodes":1,"code":"A"})",
       "spec.code: Invalid value: \"A\": spec.code in body should match '^[a-z]+$'"},
      {R"({"nodes":1,"code":"abcdef"})", "spec.code: Too long: may not be more than 5 bytes"},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(message("POST", sites, site("a", each.spec)),
              "422 Site.edge.example.com \"a\" is invalid: " + std::string(each.message));
  }
}

TEST_F(CustomResources, HaveStatusAndScale) {
  send("POST", sites, site("a", R"({"nodes":2})"));
  const std::string path = std::string(sites) + "/a";
  json::object wanted = fixture.get(path);
  wanted["status"] = json::object{{"nodes", 1}};
  sync::wire::make_object(wanted, {"spec"})["nodes"] = 3;
  const json::object status = fixture.put(path + "/status", wanted);
  EXPECT_EQ(sync::wire::dig_int(status, {"status", "nodes"}), 1);
  EXPECT_EQ(sync::wire::dig_int(status, {"spec", "nodes"}), 2);
  const json::object scale = fixture.get(path + "/scale");
  EXPECT_EQ(sync::wire::dig_int(scale, {"spec", "replicas"}), 2);
  EXPECT_EQ(sync::wire::dig_int(scale, {"status", "replicas"}), 1);
  const TestResponse scaled = fixture.ask({.method = "PATCH",
                                           .target = path + "/scale",
                                           .body = R"({"spec":{"replicas":5}})",
                                           .content_type = "application/merge-patch+json"});
  EXPECT_EQ(scaled.status, 200) << scaled.body;
  const json::object now = fixture.get(path);
  EXPECT_EQ(sync::wire::dig_int(now, {"spec", "nodes"}), 5);
  EXPECT_EQ(sync::wire::dig_int(now, {"metadata", "generation"}), 2);
}

TEST_F(CustomResources, AreServedInEachVersionAndPrinted) {
  send("POST", sites, site("a", R"({"nodes":2})"));
  const json::object beta =
      fixture.get("/apis/edge.example.com/v1beta1/namespaces/default/sites/a");
  EXPECT_EQ(text_in(beta, {"apiVersion"}), "edge.example.com/v1beta1");
  const TestResponse table = fixture.ask(
      {.target = std::string(sites), .accept = "application/json;as=Table;v=v1;g=meta.k8s.io"});
  EXPECT_EQ(json::serialize(table.object().at("rows").at(0).at("cells")), R"(["a",2])");
  const TestResponse strategic =
      fixture.ask({.method = "PATCH",
                   .target = std::string(sites) + "/a",
                   .body = "{}",
                   .content_type = "application/strategic-merge-patch+json"});
  EXPECT_EQ(strategic.status, 415);
}

// Also those whose kind has the name of a built-in kind, which is written as protobuf.
TEST_F(CustomResources, AreNeitherReadNorWrittenAsProtobuf) {
  const std::string protobuf = "application/vnd.kubernetes.protobuf";
  json::value crd(definition());
  crd.at_pointer("/metadata/name") = "nodes.edge.example.com";
  crd.at_pointer("/spec/names") = json::parse(R"({"plural":"nodes","kind":"Node"})");
  EXPECT_EQ(send("POST", definitions, crd.as_object()).status, 201);
  for (const std::string_view kind : {"Site", "Node"}) {
    SCOPED_TRACE(kind);
    const std::string path =
        kind == "Site" ? std::string(sites) : "/apis/edge.example.com/v1/namespaces/default/nodes";
    json::object made = site("a", R"({"nodes":2})");
    made["kind"] = kind;
    EXPECT_EQ(send("POST", path, made).status, 201);
    const struct {
      TestRequest asked;
      std::string answer;  // the status, and of a success the content type
    } rows[] = {
        {{.target = path + "/a", .accept = protobuf + ",application/json"}, "200 application/json"},
        {{.target = path, .accept = protobuf + ",application/json"}, "200 application/json"},
        {{.target = path + "?watch=true&timeoutSeconds=1",
          .accept = protobuf + ";stream=watch,application/json;stream=watch"},
         "200 application/json"},
        {{.target = path + "/a", .accept = protobuf}, "406"},
        {{.method = "POST", .target = path, .body = "k8s", .content_type = protobuf}, "415"},
        {{.method = "PUT", .target = path + "/a", .body = "k8s", .content_type = protobuf}, "415"},
        {{.method = "PATCH", .target = path + "/a", .body = "k8s", .content_type = protobuf},
         "415"}};
    for (const auto& row : rows) {
      TestResponse answer = fixture.ask(row.asked);
      std::string text = std::to_string(answer.status);
      if (answer.status == 200) text.append(" ").append(answer.headers.get("Content-Type"));
      EXPECT_EQ(text, row.answer) << row.asked.method << " " << row.asked.target;
      if (answer.stream) fixture.drain(answer);
      EXPECT_TRUE(answer.body.starts_with('{')) << answer.body;
    }
    EXPECT_EQ(sync::wire::dig_int(fixture.get(path + "/a"), {"spec", "nodes"}), 2);
  }
}

TEST_F(CustomResources, AreAppliedByTheirSchema) {
  const auto apply = [&](std::string_view manager, std::string_view spec) {
    return fixture.ask({.method = "PATCH",
                        .target = std::string(sites) + "/a?fieldManager=" + std::string(manager),
                        .body = json::serialize(site("a", spec)),
                        .content_type = "application/apply-patch+yaml"});
  };
  EXPECT_EQ(apply("x", R"({"nodes":2,"code":"a"})").status, 201);
  EXPECT_EQ(apply("y", R"({"nodes":3})").status, 409);
  const TestResponse less = apply("x", R"({"nodes":4})");
  EXPECT_EQ(json::serialize(less.object().at("spec")), R"({"nodes":4,"link":"4g"})");
}

TEST_F(CustomResources, AreDeletedWithTheirDefinition) {
  send("POST", sites, site("a", R"({"nodes":2})"));
  TestResponse watch = fixture.ask({.target = std::string(sites) + "?watch=true"});
  EXPECT_EQ(fixture.lines_now(watch).size(), 1U);
  fixture.remove(std::string(definitions) + "/sites.edge.example.com");
  fixture.advance(std::chrono::seconds(2));
  const std::vector<std::string> lines = fixture.lines_now(watch);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines.front().starts_with(R"({"type":"DELETED")")) << lines.front();
  EXPECT_EQ(fixture.ask({.target = std::string(sites)}).status, 404);
  EXPECT_EQ(fixture.ask({.target = "/apis/edge.example.com"}).status, 404);
}

TEST_F(CustomResources, SurviveARestart) {
  send("POST", sites, site("a", R"({"nodes":2})"));
  fixture.restart();
  EXPECT_EQ(text_in(fixture.get(std::string(sites) + "/a"), {"kind"}), "Site");
}

TEST_F(CustomResources, BadDefinitionsAreRefused) {
  struct Case {
    std::string_view what;
    std::string_view pointer;
    std::string_view value;
    std::string_view cause;  // the field and the message of the first cause
  };
  const Case cases[] = {
      {"a name that does not fit", "/metadata/name", R"("x.edge.example.com")",
       "metadata.name: Invalid value: \"x.edge.example.com\": must be "
       "spec.names.plural+\".\"+spec.group"},
      {"an unknown scope", "/spec/scope", R"("Node")",
       "spec.scope: Unsupported value: \"Node\": supported values: \"Cluster\", \"Namespaced\""},
      {"a webhook", "/spec/conversion", R"({"strategy":"Webhook"})",
       "spec.conversion.strategy: Unsupported value: \"Webhook\": supported values: \"None\""},
      {"no schema", "/spec/versions/0/schema", "{}",
       "spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required"},
      {"a schema of another type", "/spec/versions/0/schema/openAPIV3Schema",
       R"({"type":"string"})",
       "spec.versions[0].schema.openAPIV3Schema.type: Invalid value: \"string\": must be object "
       "at the root"},
      {"an array without items", "/spec/versions/0/schema/openAPIV3Schema/properties/spec",
       R"({"type":"array"})",
       "spec.versions[0].schema.openAPIV3Schema.properties[spec].items: Required value: must be "
       "specified"},
      {"a version twice", "/spec/versions/1/name", R"("v1")",
       "spec.versions[1].name: Duplicate value: \"v1\""},
      {"a path that is no path", "/spec/versions/0/additionalPrinterColumns/0/jsonPath", R"("x")",
       "spec.versions[0].additionalPrinterColumns[0].JSONPath: Invalid value: \"x\": must be a "
       "simple json path starting with ."},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    json::value crd(definition());
    crd.as_object()["metadata"].as_object()["name"] = "sites.edge.example.com";
    crd.at_pointer(each.pointer) = json::parse(each.value);
    const TestResponse answer = send("POST", definitions, crd.as_object());
    EXPECT_EQ(answer.status, 422) << answer.body;
    const json::object refused = answer.object();
    const json::value& cause = refused.at("details").at("causes").at(0);
    EXPECT_EQ(
        text_in(cause.as_object(), {"field"}) + ": " + text_in(cause.as_object(), {"message"}),
        each.cause);
  }
}

TEST_F(CustomResources, ASchemaMayNotBeTooDeep) {
  json::object schema = {{"type", "string"}};
  for (int level = 0; level < 55; ++level) {
    json::object outer = {{"type", "object"}};
    outer["properties"] = json::object{{"x", std::move(schema)}};
    schema = std::move(outer);
  }
  json::value crd(definition());
  crd.at_pointer("/spec/versions/0/schema/openAPIV3Schema") = schema;
  const TestResponse answer = send("POST", definitions, crd.as_object());
  EXPECT_EQ(answer.status, 422) << answer.body.substr(0, 300);
  EXPECT_NE(answer.body.find("must not be nested deeper than 50"), std::string::npos);
}

// The Warning headers of an answer.
std::vector<std::string> warnings_of(const TestResponse& answer) {
  std::vector<std::string> texts;
  for (const http::Header& header : answer.headers) {
    if (header.name == "Warning") texts.push_back(header.value);
  }
  return texts;
}

TEST_F(CustomResources, RulesInCelAreKeptAndAWarningSaysThatTheyAreNotEvaluated) {
  const std::string path = std::string(definitions) + "/sites.edge.example.com";
  const std::string place = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
  const json::value rules = json::parse(R"([{"rule":"self.nodes > 5","message":"too few"}])");
  const std::vector<std::string> none;
  const std::vector<std::string> warned = {
      "299 - \"spec.versions[0].schema: x-kubernetes-validations are not evaluated by "
      "holdfast-lab\""};
  json::value crd(fixture.get(path));
  EXPECT_EQ(warnings_of(send("PUT", path, crd.as_object())), none);
  crd = fixture.get(path);
  crd.at_pointer(place).as_object()["x-kubernetes-validations"] = rules;
  const TestResponse changed = send("PUT", path, crd.as_object());
  EXPECT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(warnings_of(changed), warned);
  const json::value stored(fixture.get(path));
  EXPECT_EQ(stored.at_pointer(place + "/x-kubernetes-validations"), rules);
  EXPECT_EQ(warnings_of(fixture.ask({.method = "PATCH",
                                     .target = path,
                                     .body = R"({"metadata":{"labels":{"a":"b"}}})",
                                     .content_type = "application/merge-patch+json"})),
            warned);
  EXPECT_EQ(send("POST", sites, site("a", R"({"nodes":1})")).status, 201);
  json::value other(definition());
  other.at_pointer("/metadata/name") = "places.edge.example.com";
  other.at_pointer("/spec/names") = json::parse(R"({"plural":"places","kind":"Place"})");
  other.at_pointer(place).as_object()["x-kubernetes-validations"] = rules;
  const TestResponse made = send("POST", definitions, other.as_object());
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(warnings_of(made), warned);
  EXPECT_EQ(warnings_of(fixture.ask({.target = path})), none) << "a read says nothing";
}

TEST_F(CustomResources, AtMost1000DefinitionsAreStored) {
  const auto post = [this](int number) {
    const std::string plural = "kinds" + std::to_string(number);
    json::object crd = json::parse(R"({"spec":{"group":"many.example.com","scope":"Cluster",
      "versions":[{"name":"v1","served":true,"storage":true,
                   "schema":{"openAPIV3Schema":{"type":"object"}}}]}})")
                           .as_object();
    crd["metadata"] = json::object{{"name", plural + ".many.example.com"}};
    crd["spec"].as_object()["names"] =
        json::object{{"plural", plural}, {"kind", "Kind" + std::to_string(number)}};
    return message("POST", definitions, crd);
  };
  for (int number = 1; number <= 999; ++number) ASSERT_EQ(post(number), "201 ") << number;
  EXPECT_EQ(
      post(1000),
      "403 customresourcedefinitions.apiextensions.k8s.io is forbidden: exceeded the limit of "
      "1000 custom resource definitions");
  fixture.remove(std::string(definitions) + "/kinds7.many.example.com");
  fixture.advance(std::chrono::seconds(2));
  EXPECT_EQ(post(1000), "201 ");
}

TEST_F(CustomResources, TakenNamesAreNotAccepted) {
  json::value crd(definition());
  crd.at_pointer("/metadata/name") = "places.edge.example.com";
  crd.at_pointer("/spec/names") = json::parse(R"({"plural":"places","kind":"Site"})");
  const TestResponse made = send("POST", definitions, crd.as_object());
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_NE(made.body.find(R"("message":"\"site\" is already in use")"), std::string::npos);
  EXPECT_EQ(fixture.ask({.target = "/apis/edge.example.com/v1/namespaces/default/places"}).status,
            404);
}

}  // namespace
}  // namespace holdfast::test
