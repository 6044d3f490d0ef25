// Server-side apply through the API server: creation, ownership, removal, conflicts, dry runs,
// refusals, and what updates record.

#include "sync/wire/read.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

namespace holdfast::test {
namespace {

namespace json = boost::json;

constexpr std::string_view map_path = "/api/v1/namespaces/default/configmaps/m";
constexpr std::string_view apply_type = "application/apply-patch+yaml";

class Applier {
 public:
  TestResponse apply(std::string_view query, std::string body, std::string_view path = map_path) {
    return fixture.ask({.method = "PATCH",
                        .target = std::string(path) + "?" + std::string(query),
                        .body = std::move(body),
                        .content_type = std::string(apply_type)});
  }
  // "manager operation subresource" of each entry.
  std::string managers(const json::object& object) {
    std::string text;
    for (const json::value& each : sync::wire::dig_list(object, {"metadata", "managedFields"})) {
      const json::object& entry = each.as_object();
      text += (text.empty() ? "" : ", ") + std::string(sync::wire::dig_text(entry, {"manager"})) +
              " " + std::string(sync::wire::dig_text(entry, {"operation"}));
      const std::string_view subresource = sync::wire::dig_text(entry, {"subresource"});
      if (!subresource.empty()) text += " " + std::string(subresource);
    }
    return text;
  }

  ApiServerFixture fixture{options_without_controllers()};
};

TEST(Apply, CreatesFromYamlAndUpdates) {
  Applier client;
  const TestResponse made = client.apply("fieldManager=a", R"(apiVersion: v1
kind: ConfigMap
metadata: {name: m, labels: {tier: "1"}}
data:
  x: "1"   # a string
  y: two
)");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(json::serialize(made.object().at("data")), R"({"x":"1","y":"two"})");
  EXPECT_EQ(client.managers(made.object()), "a Apply");
  const TestResponse same = client.apply(
      "fieldManager=a",
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","labels":{"tier":"1"}},)"
      R"("data":{"x":"1","y":"two"}})");
  EXPECT_EQ(same.status, 200);
  EXPECT_EQ(sync::wire::version_of(same.object()), sync::wire::version_of(made.object()));
  const TestResponse less = client.apply(
      "fieldManager=a",
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"x":"1"}})");
  EXPECT_EQ(json::serialize(less.object().at("data")), R"({"x":"1"})");
  EXPECT_FALSE(less.object().at("metadata").as_object().contains("labels"));
}

TEST(Apply, ConflictsWithOthersUnlessForced) {
  Applier client;
  client.fixture.post("/api/v1/namespaces/default/configmaps",
                      json::parse(R"({"metadata":{"name":"m"},"data":{"x":"1"}})").as_object());
  const std::string body =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"x":"2"}})";
  const TestResponse refused = client.apply("fieldManager=a", body);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(json::serialize(refused.object().at("details").at("causes").at(0).at("field")),
            "\".data.x\"");
  const TestResponse dry = client.apply("fieldManager=a&force=true&dryRun=All", body);
  EXPECT_EQ(dry.status, 200);
  EXPECT_EQ(json::serialize(client.fixture.get(std::string(map_path)).at("data")), R"({"x":"1"})");
  const TestResponse forced = client.apply("fieldManager=a&force=true", body);
  EXPECT_EQ(forced.status, 200);
  EXPECT_EQ(client.managers(forced.object()), "a Apply,  Update");
}

TEST(Apply, OfAPodRemovesContainersByName) {
  Applier client;
  const std::string path = "/apis/apps/v1/namespaces/default/deployments/d";
  const auto body = [](std::string_view containers) {
    return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{)"
           R"("selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},)"
           R"("spec":{"containers":[)" +
           std::string(containers) + "]}}}}";
  };
  const TestResponse made = client.apply(
      "fieldManager=a", body(R"({"name":"c","image":"1"},{"name":"s","image":"1"})"), path);
  ASSERT_EQ(made.status, 201) << made.body;
  const TestResponse less =
      client.apply("fieldManager=a", body(R"({"name":"c","image":"2"})"), path);
  ASSERT_EQ(less.status, 200) << less.body;
  const json::object now = less.object();
  const json::array& containers =
      sync::wire::dig_list(now, {"spec", "template", "spec", "containers"});
  ASSERT_EQ(containers.size(), 1U);
  EXPECT_EQ(containers.at(0).at("image"), "2");
  EXPECT_EQ(sync::wire::dig_int(now, {"metadata", "generation"}), 2);
}

TEST(Apply, OfAStatusHasItsOwnEntry) {
  Applier client;
  client.fixture.post("/api/v1/nodes", json::parse(R"({"metadata":{"name":"n"}})").as_object());
  const TestResponse applied = client.apply(
      "fieldManager=a",
      R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{"unschedulable":true},)"
      R"("status":{"conditions":[{"type":"Ready","status":"True"}]}})",
      "/api/v1/nodes/n/status");
  ASSERT_EQ(applied.status, 200) << applied.body;
  EXPECT_EQ(client.managers(applied.object()), "a Apply status");
  EXPECT_FALSE(sync::wire::dig_bool(applied.object(), {"spec", "unschedulable"}));
}

TEST(Apply, AWriteOfASubresourceIsRecordedUnlessItBindsOrDeletes) {
  Applier client;
  ApiServerFixture& fixture = client.fixture;
  const std::string pods = "/api/v1/namespaces/default/pods";
  const std::string sets = "/apis/apps/v1/namespaces/default/replicasets";
  const auto parsed = [](const std::string& text) { return json::parse(text).as_object(); };
  const std::string made = "?fieldManager=maker";
  const std::string changed = "?fieldManager=other";
  const json::object set = fixture.post(
      sets + made,
      parsed(R"({"metadata":{"name":"s"},"spec":{"selector":{"matchLabels":{"a":"b"}},)"
             R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[)"
             R"({"name":"c","image":"i"}]}}}})"));
  const std::string owner = R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet",)"
                            R"("name":"s","uid":")" +
                            std::string(sync::wire::uid_of(set)) + R"("}])";
  fixture.post(pods + made, parsed(R"({"metadata":{"name":"p",)" + owner +
                                   R"(},"spec":{"containers":[{"name":"c","image":"i"}]}})"));
  // What happens to the pod: the managers afterwards, and what has changed.
  const auto pod = [&](sync::wire::Path path) {
    const json::object now = fixture.get(pods + "/p");
    const json::value* found = sync::wire::dig(now, path);
    return client.managers(now) + ": " + (found == nullptr ? "-" : json::serialize(*found));
  };
  const std::string owned = pod({"metadata", "managedFields"});
  EXPECT_EQ(pod({"spec", "nodeName"}), "maker Update: -");
  EXPECT_EQ(pod({"metadata", "ownerReferences"}), "maker Update: " + owner.substr(owner.find('[')));

  fixture.patch(sets + "/s/scale" + changed, parsed(R"({"spec":{"replicas":5}})"));
  const json::object scaled = fixture.get(sets + "/s");
  EXPECT_EQ(client.managers(scaled), "maker Update, other Update scale");
  EXPECT_EQ(sync::wire::dig_int(scaled, {"spec", "replicas"}), 5);

  fixture.post(pods + "/p/binding" + changed, parsed(R"({"target":{"kind":"Node","name":"n"}})"));
  EXPECT_EQ(pod({"spec", "nodeName"}), R"(maker Update: "n")");

  (void)fixture.ask(
      {.method = "DELETE", .target = sets + "/s", .body = R"({"propagationPolicy":"Orphan"})"});
  EXPECT_EQ(pod({"metadata", "ownerReferences"}), "maker Update: -");

  fixture.post(pods + "/p/eviction" + changed, parsed(R"({"metadata":{"name":"p"}})"));
  EXPECT_EQ(pod({"metadata", "deletionGracePeriodSeconds"}), "maker Update: 30");
  EXPECT_EQ(pod({"metadata", "managedFields"}), owned);
}

TEST(Apply, RefusesBadInput) {
  struct Case {
    std::string_view query;
    std::string body;
    int status;
    std::string_view message;
  };
  Applier client;
  const Case cases[] = {
      {"", "{}", 422,
       "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for "
       "apply patch"},
      {"fieldManager=a", "a: [", 400,
       "error decoding YAML: yaml: line 1: end of sequence flow not found"},
      {"fieldManager=a", "[1]", 400, "error decoding YAML: not an object"},
      {"fieldManager=a", "a: &x 1\nb: *x\n", 400,
       "error decoding YAML: yaml: line 2: aliases are not supported"},
      {"fieldManager=a", R"({"apiVersion":"v1","kind":"Secret"})", 400,
       "invalid object type: /v1, Kind=Secret"},
      {"fieldManager=a",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","managedFields":[]}})", 400,
       "metadata.managedFields must be nil"},
      {"fieldManager=a",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","uid":"u"}})", 409,
       "Operation cannot be fulfilled on configmaps \"m\": uid mismatch: the provided object "
       "specified uid u, and no existing object was found"},
      {"fieldManager=a", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"x":1})",
       500,
       "failed to create typed patch object (/m; /v1, Kind=ConfigMap): .x: field not "
       "declared in schema"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.body);
    const TestResponse refused = client.apply(each.query, each.body);
    EXPECT_EQ(refused.status, each.status);
    EXPECT_EQ(sync::wire::dig_text(refused.object(), {"message"}), each.message);
  }
}

}  // namespace
}  // namespace holdfast::test
