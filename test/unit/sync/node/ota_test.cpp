// Who may be upgraded over the air, and what the API server is sent for it.

#include "sync/node/ota.h"

#include <gtest/gtest.h>

#include "sync/api/json.h"

namespace holdfast::sync {
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
      {"a static pod", upgrade, R"(,"ownerReferences":[{"kind":"Node","name":"edge-a"}])", needs,
       400, refused + "it is a static pod, and its manifest is not this agent's to change"},
      {"another kind", upgrade, R"(,"ownerReferences":[{"kind":"ReplicaSet","controller":true}])",
       needs, 400, refused + "only pods of DaemonSets can be, and its owner is a ReplicaSet"},
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

}  // namespace
}  // namespace holdfast::sync
