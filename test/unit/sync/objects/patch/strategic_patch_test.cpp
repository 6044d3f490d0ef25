// Strategic merge patch: lists that merge, their order, and the directives.

#include "sync/objects/patch/strategic_patch.h"

#include <boost/json/object.hpp>

#include "sync/objects/patch/schema.h"

namespace holdfast::sync::objects {
namespace {

struct StrategicLine {
  std::string_view name;
  std::string_view kind;
  std::string_view original;
  std::string_view patch;
  std::string_view result;  // the object, or the error
};

std::string patched(const StrategicLine& line) {
  const auto result = strategic_patch(line.kind, wire::parse_json(line.original)->get_object(),
                                      wire::parse_json(line.patch)->get_object());
  return result ? wire::serialize(*result) : result.error().what;
}

const StrategicLine lists[] = {
    {"conditions merge by type, in the order given", "Node",
     R"({"status":{"conditions":[{"type":"Ready","status":"True","reason":"R"}],"phase":"x"}})",
     R"({"status":{"$setElementOrder/conditions":[{"type":"MemoryPressure"},{"type":"Ready"}],)"
     R"("conditions":[{"type":"MemoryPressure","status":"False"},{"type":"Ready","reason":"S"}]}})",
     R"({"status":{"conditions":[{"type":"MemoryPressure","status":"False"},)"
     R"({"type":"Ready","status":"True","reason":"S"}],"phase":"x"}})"},
    {"what the patch does not name stays", "Node",
     R"({"status":{"conditions":[{"type":"A"},{"type":"B","status":"1"},{"type":"C"}]}})",
     R"({"status":{"conditions":[{"type":"B","status":"2"}]}})",
     R"({"status":{"conditions":[{"type":"A"},{"type":"B","status":"2"},{"type":"C"}]}})"},
    {"new elements go to the front", "Node", R"({"status":{"addresses":[{"type":"A"}]}})",
     R"({"status":{"addresses":[{"type":"Z","address":"1"}]}})",
     R"({"status":{"addresses":[{"type":"Z","address":"1"},{"type":"A"}]}})"},
    {"taints are replaced", "Node", R"({"spec":{"taints":[{"key":"a"},{"key":"b"}]}})",
     R"({"spec":{"taints":[{"key":"c"}]}})", R"({"spec":{"taints":[{"key":"c"}]}})"},
    {"null removes a list", "Node", R"({"spec":{"taints":[{"key":"a"}],"podCIDR":"c"}})",
     R"({"spec":{"taints":null}})", R"({"spec":{"podCIDR":"c"}})"},
    {"containers merge by name and their env too", "Deployment",
     R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"1","env":[{"name":"X",)"
     R"("value":"1"},{"name":"Y","value":"2"}]},{"name":"b","image":"2"}]}}}})",
     R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"9","env":[{"name":"X",)"
     R"("value":"3"}]}]}}}})",
     R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"9","env":[{"name":"X",)"
     R"("value":"3"},{"name":"Y","value":"2"}]},{"name":"b","image":"2"}]}}}})"},
    {"$patch: delete takes an element out", "Pod",
     R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
     R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})",
     R"({"spec":{"containers":[{"name":"b"}]}})"},
    {"$patch: replace replaces the list", "Pod",
     R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
     R"({"spec":{"containers":[{"$patch":"replace"},{"name":"c"}]}})",
     R"({"spec":{"containers":[{"name":"c"}]}})"},
    {"ports merge by number", "Pod",
     R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"x"}]}]}})",
     R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"hostPort":1},)"
     R"({"containerPort":81}]}]}})",
     R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"x","hostPort":1},)"
     R"({"containerPort":81}]}]}})"},
    {"tolerations are replaced", "Pod", R"({"spec":{"tolerations":[{"key":"a"}]}})",
     R"({"spec":{"tolerations":[{"key":"b"}]}})", R"({"spec":{"tolerations":[{"key":"b"}]}})"},
    {"command is replaced", "Pod", R"({"spec":{"containers":[{"name":"a","command":["x","y"]}]}})",
     R"({"spec":{"containers":[{"name":"a","command":["z"]}]}})",
     R"({"spec":{"containers":[{"name":"a","command":["z"]}]}})"},
    {"finalizers are a set", "Pod", R"({"metadata":{"finalizers":["a","b"]}})",
     R"({"metadata":{"finalizers":["c","b"]}})", R"({"metadata":{"finalizers":["c","a","b"]}})"},
    {"$deleteFromPrimitiveList", "Pod", R"({"metadata":{"finalizers":["a","b","c"]}})",
     R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b","x"]}})",
     R"({"metadata":{"finalizers":["a","c"]}})"},
    {"deleted and ordered in one patch", "Pod", R"({"metadata":{"finalizers":["a","b"]}})",
     R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],)"
     R"("$setElementOrder/finalizers":["c","b"],"finalizers":["c"]}})",
     R"({"metadata":{"finalizers":["c","b"]}})"},
    {"owners merge by uid", "Secret",
     R"({"metadata":{"ownerReferences":[{"uid":"1","name":"a"}]}})",
     R"({"metadata":{"ownerReferences":[{"uid":"1","name":"b"}]}})",
     R"({"metadata":{"ownerReferences":[{"uid":"1","name":"b"}]}})"},
    {"an order alone sorts", "Pod",
     R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})",
     R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"}]}})",
     R"({"spec":{"containers":[{"name":"b"},{"name":"c"},{"name":"a"}]}})"},
    {"an order without a list is ignored", "Pod", R"({"spec":{}})",
     R"({"spec":{"$setElementOrder/containers":[{"name":"c"}]}})", R"({"spec":{}})"},
    {"a pod's status", "Pod", R"({"status":{"podIPs":[{"ip":"1"}],"phase":"Pending"}})",
     R"({"status":{"phase":"Running","podIPs":[{"ip":"1"}],"$setElementOrder/podIPs":[{"ip":"1"}],)"
     R"("containerStatuses":[{"name":"c","ready":true,"started":null}]}})",
     R"({"status":{"podIPs":[{"ip":"1"}],"phase":"Running","containerStatuses":[{"name":"c",)"
     R"("ready":true}]}})"},
};

const StrategicLine maps[] = {
    {"maps merge", "Node", R"({"metadata":{"labels":{"a":"1"}}})",
     R"({"metadata":{"labels":{"b":"2","c":null}}})",
     R"({"metadata":{"labels":{"a":"1","b":"2"}}})"},
    {"$patch: replace replaces a map", "Node", R"({"metadata":{"labels":{"a":"1"}}})",
     R"({"metadata":{"labels":{"$patch":"replace","b":"2"}}})",
     R"({"metadata":{"labels":{"b":"2"}}})"},
    {"$patch: delete empties a map", "Node", R"({"metadata":{"labels":{"a":"1"}}})",
     R"({"metadata":{"labels":{"$patch":"delete"}}})", R"({"metadata":{"labels":{}}})"},
    {"directives do not survive where nothing was", "Pod", R"({})",
     R"({"spec":{"volumes":[{"name":"v","$patch":"delete"},{"name":"w","x":null}],"y":{"$patch":)"
     R"("replace"}}})",
     R"({"spec":{"volumes":[{"name":"w"}]}})"},
    {"$retainKeys", "Deployment",
     R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}},)"
     R"("paused":true}})",
     R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})",
     R"({"spec":{"strategy":{"type":"Recreate"},"paused":true}})"},
    {"a volume changes its kind", "Pod",
     R"({"spec":{"volumes":[{"name":"v","emptyDir":{}},{"name":"w"}]}})",
     R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/"},)"
     R"("emptyDir":null}]}})",
     R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/"}},{"name":"w"}]}})"},
    {"a budget's selector is replaced", "PodDisruptionBudget",
     R"({"spec":{"selector":{"matchLabels":{"a":"1"}},"minAvailable":1}})",
     R"({"spec":{"selector":{"matchLabels":{"b":"2"}}}})",
     R"({"spec":{"selector":{"matchLabels":{"b":"2"}},"minAvailable":1}})"},
    {"another type takes over", "Node", R"({"spec":{"taints":[1]}})",
     R"({"spec":{"taints":{"a":null}}})", R"({"spec":{"taints":{}}})"},
};

const StrategicLine bad_strategic[] = {
    {"no key", "Pod", R"({"spec":{"containers":[{"name":"a"}]}})",
     R"({"spec":{"containers":[{"image":"x","n":[1,{"b":null}]}]}})",
     "map: map[image:x n:[1 map[b:<nil>]]] does not contain declared merge key: name"},
    {"no key to delete", "Pod", R"({"spec":{"containers":[{"name":"a"}]}})",
     R"({"spec":{"containers":[{"$patch":"delete"}]}})",
     "map: map[$patch:delete] does not contain declared merge key: name"},
    {"unknown directive", "Pod", R"({"spec":{}})", R"({"spec":{"$patch":"burn"}})",
     "unknown patch type: burn in map: map[$patch:burn]"},
    {"merge is no directive of lists", "Pod", R"({"spec":{"containers":[{"name":"a"}]}})",
     R"({"spec":{"containers":[{"$patch":"merge"}]}})",
     "merging lists cannot yet be specified in the patch"},
    {"mixed elements", "Pod", R"({"spec":{"containers":[{"name":"a"}]}})",
     R"({"spec":{"containers":[1]}})", "list element types are not identical: [[map[name:a]] [1]]"},
    {"lists of lists", "Pod", R"({"metadata":{"finalizers":["a"]}})",
     R"({"metadata":{"finalizers":[["b"]]}})", "lists of lists are not supported"},
    {"retain keys that do not cover", "Deployment", R"({"spec":{"strategy":{"type":"x"}}})",
     R"({"spec":{"strategy":{"$retainKeys":["type"],"other":1}}})",
     "invalid patch format of retainKeys"},
    {"retain keys that are no list", "Deployment", R"({"spec":{"strategy":{"type":"x"}}})",
     R"({"spec":{"strategy":{"$retainKeys":1}}})", "invalid patch format of retainKeys"},
    {"an order against the patch", "Pod", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
     R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":)"
     R"([{"name":"b"},{"name":"a"}]}})",
     "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n"
     "[map[name:a] map[name:b]]\n"},
    {"an order that is no list", "Pod", R"({"spec":{}})",
     R"({"spec":{"$setElementOrder/containers":"x"}})",
     "expected a []interface {}, but received a string"},
};

TEST(StrategicPatch, Lists) {
  for (const StrategicLine& line : lists) EXPECT_EQ(patched(line), line.result) << line.name;
}

TEST(StrategicPatch, MapsAndDirectives) {
  for (const StrategicLine& line : maps) EXPECT_EQ(patched(line), line.result) << line.name;
}

TEST(StrategicPatch, RefusesInUpstreamsWords) {
  for (const StrategicLine& line : bad_strategic)
    EXPECT_EQ(patched(line), line.result) << line.name;
}

TEST(StrategicPatch, Schema) {
  EXPECT_TRUE(has_patch_schema("Pod"));
  EXPECT_TRUE(has_patch_schema("ConfigMap"));
  EXPECT_FALSE(has_patch_schema("NodePool"));
  EXPECT_EQ(find_patch_field(find_type("NodeSpec"), "taints")->how, PatchField::How::plain);
  EXPECT_EQ(find_patch_field(find_type("PodSpec"), "containers")->key, "name");
  EXPECT_EQ(find_patch_field(find_type("PodTemplateSpec"), "metadata")->of,
            find_type("ObjectMeta"));
  EXPECT_FALSE(find_patch_field(find_type("PodSpec"), "noSuchField"));
  EXPECT_FALSE(find_patch_field(nullptr, "metadata"));
}

}  // namespace
}  // namespace holdfast::sync::objects
