// Requests that the recorded session does not contain: paging, finalizers, namespaces, conflicts,
// dry runs, tokens, and files that outlive the process.

#include "platform/text.h"
#include "sync/wire/read.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

namespace holdfast::test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr std::string_view maps_path = "/api/v1/namespaces/default/configmaps";
constexpr std::string_view pods_path = "/api/v1/namespaces/default/pods";

json::object named(std::string_view name) { return {{"metadata", json::object{{"name", name}}}}; }

json::object pod_named(std::string_view name) {
  json::object made = named(name);
  made["spec"] = json::parse(R"({"containers":[{"name":"c","image":"x"}]})");
  return made;
}

std::string text(const json::object& from, sync::wire::Path path) {
  return std::string(sync::wire::dig_text(from, path));
}

std::vector<std::string> names_of(const json::object& list) {
  std::vector<std::string> names;
  for (const json::value& item : sync::wire::dig_list(list, {"items"})) {
    names.emplace_back(sync::wire::name_of(item.as_object()));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(ApiServer, ListsInPagesOfOneMoment) {
  ApiServerFixture fixture(options_without_controllers());
  for (const std::string_view name : {"a", "b", "c", "d", "e"}) {
    fixture.post(std::string(maps_path), named(name));
  }
  const json::object first = fixture.get(std::string(maps_path) + "?limit=2");
  EXPECT_EQ(names_of(first), (Names{"a", "b"}));
  EXPECT_EQ(sync::wire::dig_int(first, {"metadata", "remainingItemCount"}), 3);
  fixture.remove(std::string(maps_path) + "/c");
  fixture.post(std::string(maps_path), named("bb"));
  const std::string token = text(first, {"metadata", "continue"});
  const json::object second = fixture.get(std::string(maps_path) + "?limit=2&continue=" + token);
  EXPECT_EQ(names_of(second), (Names{"c", "d"}));
  EXPECT_EQ(text(second, {"metadata", "resourceVersion"}),
            text(first, {"metadata", "resourceVersion"}));
  const std::string next = text(second, {"metadata", "continue"});
  const json::object third = fixture.get(std::string(maps_path) + "?limit=2&continue=" + next);
  EXPECT_EQ(names_of(third), (Names{"e"}));
  EXPECT_EQ(text(third, {"metadata", "continue"}), "");
  ASSERT_TRUE(fixture.server().compact_now());
  const TestResponse expired =
      fixture.ask({.target = std::string(maps_path) + "?limit=2&continue=" + token});
  EXPECT_EQ(expired.status, 410);
  EXPECT_EQ(text(expired.object(), {"reason"}), "Expired");
  // As upstream, with a token for the rest of what there is now.
  const std::string again = text(expired.object(), {"metadata", "continue"});
  fixture.post(std::string(maps_path), named("cc"));
  EXPECT_EQ(names_of(fixture.get(std::string(maps_path) + "?continue=" + again)),
            (Names{"bb", "cc", "d", "e"}));
}

TEST(ApiServer, PagesThroughASelectionWithoutCounting) {
  ApiServerFixture fixture(options_without_controllers());
  for (const std::string_view name : {"a", "b", "c"}) {
    json::object made = named(name);
    made["metadata"].as_object()["labels"] = json::object{{"odd", name == "b" ? "no" : "yes"}};
    fixture.post(std::string(maps_path), made);
  }
  const std::string query = std::string(maps_path) + "?limit=1&labelSelector=odd%3Dyes";
  const json::object first = fixture.get(query);
  EXPECT_EQ(names_of(first), (Names{"a"}));
  EXPECT_EQ(sync::wire::dig(first, {"metadata", "remainingItemCount"}), nullptr);
  const json::object second =
      fixture.get(query + "&continue=" + text(first, {"metadata", "continue"}));
  EXPECT_EQ(names_of(second), (Names{"c"}));
}

TEST(ApiServer, KeepsWhatItHasAcrossARestart) {
  ApiServerFixture fixture(options_without_controllers());
  const json::object made = fixture.post(std::string(maps_path), named("a"));
  fixture.restart();
  EXPECT_EQ(fixture.get(std::string(maps_path) + "/a"), made);
  const json::object next = fixture.post(std::string(maps_path), named("b"));
  EXPECT_GT(*parse_int<int>(sync::wire::version_of(next)),
            *parse_int<int>(sync::wire::version_of(made)));
}

TEST(ApiServer, WritesNothingThatIsNotNews) {
  ApiServerFixture fixture(options_without_controllers());
  const json::object made = fixture.post(std::string(maps_path), named("a"));
  EXPECT_EQ(fixture.put(std::string(maps_path) + "/a", made), made);
  EXPECT_EQ(fixture.patch(std::string(maps_path) + "/a", {}), made);
}

TEST(ApiServer, ADryRunChangesNothing) {
  ApiServerFixture fixture(options_without_controllers());
  const json::object made = fixture.post(std::string(maps_path), named("a"));
  const json::object changed =
      fixture.patch(std::string(maps_path) + "/a?dryRun=All", {{"data", json::object{{"k", "v"}}}});
  EXPECT_EQ(text(changed, {"data", "k"}), "v");
  fixture.remove(std::string(maps_path) + "/a?dryRun=All");
  fixture.remove(std::string(maps_path) + "/a", R"({"dryRun":["All"]})");
  EXPECT_EQ(fixture.get(std::string(maps_path) + "/a"), made);
  EXPECT_EQ(fixture.ask({.target = std::string(maps_path) + "?dryRun=Some"}).status, 400);
}

TEST(ApiServer, FinalizersHoldADeletion) {
  ApiServerFixture fixture(options_without_controllers());
  json::object held = named("a");
  held["metadata"].as_object()["finalizers"] = json::array({"lab/hold"});
  fixture.post(std::string(maps_path), held);
  const json::object going = fixture.remove(std::string(maps_path) + "/a");
  EXPECT_EQ(text(going, {"metadata", "deletionTimestamp"}), "2026-11-21T01:23:14Z");
  EXPECT_EQ(fixture.ask({.target = std::string(maps_path) + "/a"}).status, 200);
  fixture.patch(std::string(maps_path) + "/a",
                {{"metadata", json::object{{"finalizers", nullptr}}}});
  EXPECT_EQ(fixture.ask({.target = std::string(maps_path) + "/a"}).status, 404);
}

TEST(ApiServer, ANamespaceTakesItsContentWithIt) {
  ApiServerFixture fixture;
  fixture.post("/api/v1/namespaces", named("t"));
  fixture.advance(1s);
  fixture.post("/api/v1/namespaces/t/configmaps", named("a"));
  fixture.post("/api/v1/namespaces/t/pods", pod_named("p"));
  EXPECT_EQ(fixture.ask({.target = "/api/v1/namespaces/t/serviceaccounts/default"}).status, 200);
  const json::object going = fixture.remove("/api/v1/namespaces/t");
  EXPECT_EQ(text(going, {"status", "phase"}), "Terminating");
  const TestResponse refused = fixture.ask({.method = "POST",
                                            .target = "/api/v1/namespaces/t/configmaps",
                                            .body = json::serialize(named("late"))});
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(text(refused.object(), {"message"}),
            "configmaps \"late\" is forbidden: unable to create new content in namespace t because "
            "it is being terminated");
  const json::object why = refused.object();
  const json::array& causes = sync::wire::dig_list(why, {"details", "causes"});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(text(causes[0].as_object(), {"reason"}), "NamespaceTerminating");
  // An object without a name is identified by its generateName; a token counts as content, too.
  const TestResponse unnamed = fixture.ask({.method = "POST",
                                            .target = "/api/v1/namespaces/t/configmaps",
                                            .body = R"({"metadata":{"generateName":"late-"}})"});
  EXPECT_TRUE(text(unnamed.object(), {"message"}).starts_with("configmaps \"late-\" is"))
      << unnamed.body;
  const TestResponse token =
      fixture.ask({.method = "POST",
                   .target = "/api/v1/namespaces/t/serviceaccounts/default/token",
                   .body = R"({"kind":"TokenRequest","spec":{}})"});
  EXPECT_EQ(token.status, 403) << token.body;
  fixture.advance(1s);
  EXPECT_EQ(fixture.ask({.target = "/api/v1/namespaces/t"}).status, 404);
  EXPECT_EQ(names_of(fixture.get("/api/v1/namespaces/t/configmaps")), Names{});
}

// The lab once accepted a replayed status with two addresses of one family, which kube-apiserver
// refuses with 422.
TEST(ApiServer, RefusesTwoAddressesOfOneFamily) {
  ApiServerFixture fixture(options_without_controllers());
  fixture.post(std::string(pods_path), pod_named("p"));
  const auto patch = [&fixture](const std::string& address) {
    return fixture.ask({.method = "PATCH",
                        .target = std::string(pods_path) + "/p/status",
                        .body = R"({"status":{"podIP":")" + address + R"(","podIPs":[{"ip":")" +
                                address + R"("}]}})",
                        .content_type = "application/strategic-merge-patch+json"});
  };
  EXPECT_EQ(patch("10.0.0.1").status, 200);
  const TestResponse merged = patch("10.0.0.2");
  EXPECT_EQ(merged.status, 422);
  EXPECT_EQ(text(merged.object(), {"message"}),
            R"(Pod "p" is invalid: status.podIPs: Invalid value: [{"IP":"10.0.0.2"},)"
            R"({"IP":"10.0.0.1"}]: may specify no more than one IP for each IP family)");
}

TEST(ApiServer, LeasesAreMadeByAPutAndNeedTheirVersion) {
  ApiServerFixture fixture(options_without_controllers());
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
  const TestResponse made =
      fixture.ask({.method = "PUT", .target = lease, .body = json::serialize(named("l"))});
  EXPECT_EQ(made.status, 201);
  const TestResponse blind =
      fixture.ask({.method = "PUT", .target = lease, .body = json::serialize(named("l"))});
  EXPECT_EQ(blind.status, 422);
  EXPECT_EQ(text(blind.object(), {"message"}),
            "Lease.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: "
            "0x0: must be specified for an update");
}

TEST(ApiServer, DeletesACollectionBySelector) {
  ApiServerFixture fixture(options_without_controllers());
  for (const std::string_view name : {"a", "b"}) fixture.post(std::string(maps_path), named(name));
  const TestResponse response = fixture.ask(
      {.method = "DELETE", .target = std::string(maps_path) + "?fieldSelector=metadata.name%3Da"});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(names_of(fixture.get(std::string(maps_path))), (Names{"b"}));
}

TEST(ApiServer, BothVersionsShowTheSameObject) {
  ApiServerFixture fixture(options_without_controllers());
  json::object budget = named("b");
  budget["spec"] = json::parse(R"({"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}})");
  const std::string old_path = "/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets";
  const std::string new_path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  json::object made = fixture.post(new_path, budget);
  EXPECT_EQ(text(made, {"apiVersion"}), "policy/v1");
  json::object seen = fixture.get(old_path + "/b");
  EXPECT_EQ(text(seen, {"apiVersion"}), "policy/v1beta1");
  seen["apiVersion"] = "policy/v1";
  EXPECT_EQ(seen, made);
  EXPECT_EQ(names_of(fixture.get(old_path)), (Names{"b"}));
}

TEST(ApiServer, IssuesTokensAndKnowsThemAgain) {
  ApiServerFixture fixture(options_without_controllers());
  fixture.post("/api/v1/namespaces/default/serviceaccounts", named("robot"));
  const json::object issued = fixture.post("/api/v1/namespaces/default/serviceaccounts/robot/token",
                                           {{"spec", json::object{{"expirationSeconds", 1200}}}});
  EXPECT_EQ(text(issued, {"status", "expirationTimestamp"}), "2026-11-21T01:43:14Z");
  const std::string token = text(issued, {"status", "token"});
  EXPECT_EQ(split(token, '.').size(), 3u);
  const json::object review = fixture.post("/apis/authentication.k8s.io/v1/tokenreviews",
                                           {{"spec", json::object{{"token", token}}}});
  EXPECT_EQ(text(review, {"status", "user", "username"}), "system:serviceaccount:default:robot");
  const TestResponse brief =
      fixture.ask({.method = "POST",
                   .target = "/api/v1/namespaces/default/serviceaccounts/robot/token",
                   .body = R"({"spec":{"expirationSeconds":5}})"});
  EXPECT_EQ(brief.status, 422);
}

// As kube-apiserver answers the kubelet: the answer says one hour, the token a year.
TEST(ApiServer, ADefaultTokenOfAPodLastsAYear) {
  ApiServerFixture fixture(options_without_controllers());
  fixture.post("/api/v1/namespaces/default/serviceaccounts", named("robot"));
  const json::object pod{{"kind", "Pod"}, {"apiVersion", "v1"}, {"name", "p"}, {"uid", "u"}};
  struct Case {
    const char* what;
    json::object spec;
    std::int64_t lasts;
    bool warns;
  };
  constexpr std::int64_t year = 365 * 24 * 3600;
  const Case cases[] = {
      {"a default token", {{"expirationSeconds", 3607}, {"boundObjectRef", pod}}, year, true},
      {"another length", {{"expirationSeconds", 7200}, {"boundObjectRef", pod}}, 7200, false},
      {"another audience",
       {{"expirationSeconds", 3607}, {"boundObjectRef", pod}, {"audiences", json::array{"vault"}}},
       3607,
       false},
      {"not bound to a pod", {{"expirationSeconds", 3607}}, 3607, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const json::object issued =
        fixture.post("/api/v1/namespaces/default/serviceaccounts/robot/token", {{"spec", c.spec}});
    const std::string token = text(issued, {"status", "token"});
    std::string claims(split(token, '.').at(1));
    for (char& each : claims) each = each == '-' ? '+' : each == '_' ? '/' : each;
    claims.append((4 - claims.size() % 4) % 4, '=');
    const json::object read = json::parse(base64_decode(claims).value()).as_object();
    EXPECT_EQ(read.at("exp").as_int64() - read.at("iat").as_int64(), c.lasts);
    EXPECT_EQ(read.contains("kubernetes.io"), c.warns);
    const WallTime said = parse_rfc3339(text(issued, {"status", "expirationTimestamp"})).value();
    EXPECT_EQ(said - WallTime(std::chrono::seconds(read.at("iat").as_int64())),
              std::chrono::seconds(c.spec.at("expirationSeconds").as_int64()));
  }
}

// As kube-apiserver: only with a limit does a version without a match mean exactly that version.
TEST(ApiServer, AVersionWithALimitIsExact) {
  ApiServerFixture fixture(options_without_controllers());
  const json::object first = fixture.post(std::string(maps_path), named("a"));
  fixture.post(std::string(maps_path), named("b"));
  const std::string at =
      std::string(maps_path) + "?resourceVersion=" + text(first, {"metadata", "resourceVersion"});
  const auto ours = [&fixture](const std::string& target) {
    Names names = names_of(fixture.get(target));
    std::erase(names, "kube-root-ca.crt");
    return names;
  };
  EXPECT_EQ(ours(at), (Names{"a", "b"}));
  EXPECT_EQ(ours(at + "&limit=10"), Names{"a"});
  EXPECT_EQ(ours(at + "&limit=10&resourceVersionMatch=Exact"), Names{"a"});
  EXPECT_EQ(ours(at + "&limit=10&resourceVersionMatch=NotOlderThan"), (Names{"a", "b"}));
  EXPECT_EQ(ours(std::string(maps_path) + "?resourceVersion=0&limit=10"), (Names{"a", "b"}));
}

TEST(ApiServer, EventsExpire) {
  ApiServerFixture fixture(options_without_controllers());
  json::object event = named("e");
  event["involvedObject"] = json::object{{"namespace", "default"}};
  fixture.post("/api/v1/namespaces/default/events", event);
  fixture.advance(59min);
  EXPECT_EQ(names_of(fixture.get("/api/v1/events")), (Names{"e"}));
  fixture.advance(2min);
  EXPECT_EQ(names_of(fixture.get("/api/v1/events")), Names{});
}

TEST(ApiServer, RefusesTooMuch) {
  ApiServerFixture fixture(options_without_controllers());
  const TestResponse response =
      fixture.ask({.method = "POST",
                   .target = std::string(maps_path),
                   .body = std::string(agent::lab::body_bytes_max + 1, ' ')});
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(text(response.object(), {"reason"}), "RequestEntityTooLarge");
}

TEST(ApiServer, WarnsOfFieldsThatItDoesNotKnow) {
  ApiServerFixture fixture(options_without_controllers());
  json::object pod = pod_named("p");
  pod["spec"].as_object()["contaners"] = 1;
  const TestResponse response = fixture.ask(
      {.method = "POST", .target = std::string(pods_path), .body = json::serialize(pod)});
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.headers.get("Warning"), R"(299 - "unknown field \"spec.contaners\"")");
  const TestResponse strict =
      fixture.ask({.method = "POST",
                   .target = std::string(pods_path) + "?fieldValidation=Strict",
                   .body = json::serialize(pod)});
  EXPECT_EQ(strict.status, 400);
}

TEST(ApiServer, RefusesBrokenRequests) {
  ApiServerFixture fixture(options_without_controllers());
  const std::pair<TestRequest, int> cases[] = {
      {{.target = "/api/v1/pods/../nodes"}, 400},
      {{.target = "/api/v1/nodes?labelSelector=%zz"}, 400},
      {{.method = "POST", .target = "/api/v1/pods", .body = "{}"}, 405},
      {{.method = "POST", .target = "/api/v1/namespaces", .body = "[]"}, 400},
      {{.method = "POST", .target = "/api/v1/namespaces", .body = "null"}, 400},
      {{.method = "PATCH",
        .target = "/api/v1/namespaces/default",
        .body = "7",
        .content_type = "application/merge-patch+json"},
       400},
      {{.method = "DELETE", .target = "/api/v1/services"}, 405},
      {{.target = "/api/v1/nodes/n/proxy"}, 404},
      {{.target = "/apis/apps/v1/namespaces/default/deployments/d/scale"}, 404},
      {{.method = "PUT", .target = "/api/v1/namespaces/default/pods/p/status", .body = "{}"}, 404},
      {{.target = "/api/v1/nodes?includeObject=Some"}, 400},
      {{.target = "/api/v1/nodes?fieldValidation=Some"}, 400},
      {{.target = "/no/such/path"}, 404},
  };
  for (const auto& [asked, status] : cases) {
    EXPECT_EQ(fixture.ask(asked).status, status) << asked.method << " " << asked.target;
  }
}

}  // namespace
}  // namespace holdfast::test
