// Who may be upgraded over the air, and what the API server is sent for it.

#include "sync/node/ota.h"

#include <gtest/gtest.h>

#include "sync/node/static_pod.h"
#include "sync/wire/json.h"

namespace holdfast::sync::node {
namespace {

struct Row {
  std::string name;
  OtaAction action;
  std::string metadata;  // besides name, namespace and uid
  std::string conditions;
  int status;
  std::string message;
  std::string body = {};
  std::string node = "edge-a";
};

const std::string daemon =
    R"(,"ownerReferences":[{"kind":"DaemonSet","name":"d","controller":true}])";
const std::string needs =
    R"({"type":"PodNeedUpgrade","status":"True","message":"controllerrevision: abc"})";
const std::string refused = "pod ns/p can't be upgraded: ";
const std::string remove_it =
    R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u"}})";

std::string image(const std::string& status, const std::string& version) {
  return R"(,{"type":"PodImageReady","status":")" + status +
         R"(","reason":"PullImageFail","message":"controllerrevision: )" + version + R"("})";
}
std::string pull(const std::string& more) {
  return R"({"metadata":{"uid":"u"},"status":{"conditions":[{"type":"PodImageReady",)"
         R"("status":"False","message":"controllerrevision: abc","reason":null)" +
         more + "}]}}";
}

TEST(Ota, DecidesAsOpenYurtDoes) {
  using enum OtaAction;
  const Row rows[] = {
      {"a daemon", upgrade, daemon, needs, 200, "Start updating pod ns/p", remove_it},
      {"its images are there", upgrade, daemon, needs + image("True", "abc"), 200,
       "Start updating pod ns/p", remove_it},
      {"they are another version's", upgrade, daemon, needs + image("True", "old"), 403,
       refused + "its images are not ready: PullImageFail controllerrevision: old"},
      {"they are not", upgrade, daemon, needs + image("False", "abc"), 403,
       refused + "its images are not ready: PullImageFail controllerrevision: abc"},
      {"nothing newer", upgrade, daemon, R"({"type":"PodNeedUpgrade","status":"False"})", 403,
       refused + "its condition PodNeedUpgrade is not True"},
      {"no condition", upgrade, daemon, "", 403,
       refused + "its condition PodNeedUpgrade is not True"},
      {"odd conditions", upgrade, daemon, R"(7,{"type":7,"status":"True"})", 403,
       refused + "its condition PodNeedUpgrade is not True"},
      {"going", upgrade, daemon + R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")", needs, 403,
       refused + "it is being deleted"},
      {"elsewhere", upgrade, daemon, needs, 403, refused + "it runs on \"edge-b\"", "", "edge-b"},
      {"not scheduled", image_pull, daemon, needs, 403, refused + "it runs on \"\"", "", ""},
      {"another node's static pod", upgrade,
       R"(,"ownerReferences":[{"kind":"Node","name":"edge-a"}])", needs, 400,
       refused + "no static pod of this node has that name"},
      {"another kind", upgrade, R"(,"ownerReferences":[{"kind":"ReplicaSet","controller":true}])",
       needs, 400,
       refused + "only pods of DaemonSets and static pods can be, and its owner is a ReplicaSet"},
      {"nobody's", upgrade, "", needs, 400, refused + "it has no owner"},
      {"the images are wanted", image_pull, daemon, needs, 200,
       "Image pre-pull requested for pod ns/p",
       pull(R"(,"lastTransitionTime":"2026-11-22T00:00:00Z")")},
      {"they are wanted again", image_pull, daemon, needs + image("False", "abc"), 200,
       "Image pre-pull requested for pod ns/p", pull("")},
      {"nothing to pull", image_pull, daemon, "", 403,
       refused + "its condition PodNeedUpgrade is not True"},
  };
  const WallTime now = parse_rfc3339("2026-11-22T00:00:00Z").value();
  for (const Row& row : rows) {
    const std::string pod = R"({"metadata":{"name":"p","namespace":"ns","uid":"u")" + row.metadata +
                            R"(},"spec":{"nodeName":")" + row.node +
                            R"("},"status":{"conditions":[)" + row.conditions + "]}}";
    const auto decided = decide_ota(row.action, pod, "edge-a", now);
    ASSERT_TRUE(decided) << row.name;
    EXPECT_EQ(decided->status, row.status) << row.name;
    EXPECT_EQ(decided->message, row.message) << row.name;
    EXPECT_EQ(decided->body, row.body) << row.name;
  }
  for (const char* bad : {"", "[]", "{}", R"({"kind":"Status","code":404})"}) {
    EXPECT_FALSE(decide_ota(upgrade, bad, "edge-a", now)) << bad;
  }
  EXPECT_EQ(parse_ota_action("upgrade"), upgrade);
  EXPECT_EQ(parse_ota_action("imagepull"), image_pull);
  EXPECT_EQ(parse_ota_action("Upgrade"), std::nullopt);
}

TEST(Ota, AStaticPodsNextManifestIsInAConfigMap) {
  const std::string pod =
      R"({"metadata":{"name":"nginx-edge-a","namespace":"ns","uid":"u","ownerReferences":[)"
      R"({"kind":"Node","name":"edge-a","controller":true}]},"spec":{"nodeName":"edge-a"},)"
      R"("status":{"conditions":[)" +
      needs + "]}}";
  EXPECT_EQ(decide_ota(OtaAction::upgrade, pod, "edge-a", {}).value(),
            (OtaDecision{.message = "Start updating pod ns/nginx-edge-a",
                         .config_map = "yurt-static-set-nginx",
                         .static_name = "nginx"}));
  const std::pair<const char*, std::optional<std::string>> names[] = {
      {"nginx-edge-a", "nginx"},    {"a-edge-a-edge-a", "a-edge-a"}, {"nginx-edge-b", std::nullopt},
      {"-edge-a", std::nullopt},    {"edge-a", std::nullopt},        {"", std::nullopt},
      {"nginxedge-a", std::nullopt}};
  for (const auto& [name, expected] : names) {
    EXPECT_EQ(static_pod_name(name, "edge-a"), expected) << name;
  }
}

TEST(StaticPod, ItsConfigMapHasOneManifestOfAName) {
  const auto map = [](const std::string& data) {
    return R"({"metadata":{"name":"yurt-static-set-nginx"},"data":{)" + data + "}}";
  };
  const std::pair<std::string, std::string> rows[] = {
      {map(R"("nginx":"kind: Pod")"), "nginx.yaml kind: Pod"},
      {map(R"("a_B.9-c":"x")"), "a_B.9-c.yaml x"},
      {map(""), "it has 0 manifests instead of one"},
      {map(R"("a":"x","b":"x")"), "it has 2 manifests instead of one"},
      {map(R"("../kube-apiserver":"x")"), "\"../kube-apiserver\" is no name for a manifest"},
      {map(R"("..":"x")"), "\"..\" is no name for a manifest"},
      {map(R"(".hidden":"x")"), "\".hidden\" is no name for a manifest"},
      {map(R"("a/b":"x")"), "\"a/b\" is no name for a manifest"},
      {map(R"("a\u0000b":"x")"), std::string("\"a\0b\" is no name for a manifest", 31)},
      {map(R"("":"x")"), "\"\" is no name for a manifest"},
      {map("\"" + std::string(241, 'a') + "\":\"x\""),
       "\"" + std::string(241, 'a') + "\" is no name for a manifest"},
      {map(R"("a":"")"), "its manifest is empty"},
      {map(R"("a":{"b":"c"})"), "its manifest is empty"},
      {map("\"a\":\"" + std::string(manifest_bytes_max + 1, 'x') + "\""),
       "its manifest is over the limit"},
      {"{}", "not a ConfigMap"},
      {"[]", "not a ConfigMap"},
      {R"({"metadata":{"name":"x"},"data":7})", "it has 0 manifests instead of one"},
  };
  for (const auto& [text, expected] : rows) {
    const auto file = manifest_in(text);
    EXPECT_EQ(file ? file->name + " " + file->text : file.error().what, expected);
  }
  EXPECT_FALSE(manifest_in("{"));
}

TEST(StaticPod, OnlyItsOwnManifestIsTaken) {
  const PodManifest good{.api_version = "v1",
                         .kind = "Pod",
                         .name = "nginx",
                         .namespace_name = "ns",
                         .containers = {{"c", "nginx:1.27"}}};
  struct Check {
    PodManifest manifest;
    std::string problem;
  };
  const auto with = [&good](const std::function<void(PodManifest&)>& change) {
    PodManifest changed = good;
    change(changed);
    return changed;
  };
  const Check rows[] = {
      {good, ""},
      {with([](PodManifest& m) { m.kind = "DaemonSet"; }),
       "it is \"v1 DaemonSet\" and not \"v1 Pod\""},
      {with([](PodManifest& m) { m.api_version = ""; }), "it is \" Pod\" and not \"v1 Pod\""},
      {with([](PodManifest& m) { m.name = "other"; }),
       "it is for the pod ns/other and not for ns/nginx"},
      {with([](PodManifest& m) { m.namespace_name = ""; }),
       "it is for the pod default/nginx and not for ns/nginx"},
      {with([](PodManifest& m) { m.containers.clear(); }), "it has no containers"},
      {with([](PodManifest& m) { m.containers[0].image = ""; }), "container \"c\" has no image"},
      {with([](PodManifest& m) {
         m.containers.push_back({"../x", "i"});
       }),
       "container \"../x\": "},
  };
  for (const Check& row : rows) {
    const Status checked = check_manifest(row.manifest, "ns", "nginx");
    EXPECT_EQ(checked.has_value(), row.problem.empty()) << row.problem;
    if (!checked) {
      EXPECT_TRUE(checked.error().what.starts_with(row.problem)) << checked.error().what;
    }
  }
  EXPECT_TRUE(
      check_manifest(with([](PodManifest& m) { m.namespace_name = ""; }), "default", "nginx"))
      << "no namespace is the default one";
}

}  // namespace
}  // namespace holdfast::sync::node
