// Strategic merge patches, as upstream's strategicpatch.CreateTwoWayMergePatch creates them.

#include "sync/objects/patch/diff.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <random>

#include "sync/objects/patch/schema.h"
#include "sync/objects/patch/strategic_patch.h"

namespace holdfast::sync::objects {
namespace {

struct DiffLine {
  std::string_view name;
  std::string_view kind;
  std::string_view original;
  std::string_view modified;
  std::string_view patch;  // the patch, or the error
};

const DiffLine lines[] = {
    {"nothing differs", "Pod", R"({"status":{"phase":"Running"}})",
     R"({"status":{"phase":"Running"}})", "{}"},
    {"a field is new, one changes, one is gone", "Pod", R"({"status":{"phase":"A","reason":"r"}})",
     R"({"status":{"phase":"B","message":"m"}})",
     R"({"status":{"phase":"B","message":"m","reason":null}})"},
    {"a pod has another address", "Pod",
     R"({"status":{"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}]}})",
     R"({"status":{"podIP":"10.0.0.9","podIPs":[{"ip":"10.0.0.9"}]}})",
     R"({"status":{"podIP":"10.0.0.9","podIPs":[{"ip":"10.0.0.9"},{"ip":"10.0.0.1",)"
     R"("$patch":"delete"}],"$setElementOrder/podIPs":[{"ip":"10.0.0.9"}]}})"},
    {"one of two addresses changes", "Pod",
     R"({"status":{"podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}]}})",
     R"({"status":{"podIPs":[{"ip":"10.0.0.2"},{"ip":"fd00::1"}]}})",
     R"({"status":{"podIPs":[{"ip":"10.0.0.2"},{"ip":"10.0.0.1","$patch":"delete"}],)"
     R"("$setElementOrder/podIPs":[{"ip":"10.0.0.2"},{"ip":"fd00::1"}]}})"},
    {"the addresses come first", "Pod", R"({"status":{}})",
     R"({"status":{"podIPs":[{"ip":"10.0.0.2"}]}})",
     R"({"status":{"podIPs":[{"ip":"10.0.0.2"}]}})"},
    {"all elements are gone", "Pod", R"({"status":{"podIPs":[{"ip":"b"},{"ip":"a"}]}})",
     R"({"status":{"podIPs":[]}})",
     R"({"status":{"podIPs":[{"ip":"a","$patch":"delete"},{"ip":"b","$patch":"delete"}]}})"},
    {"conditions change in part", "Node",
     R"({"status":{"conditions":[{"type":"A","status":"True","reason":"x"},)"
     R"({"type":"Ready","status":"Unknown"}]}})",
     R"({"status":{"conditions":[{"type":"A","status":"True","reason":"x"},)"
     R"({"type":"Ready","status":"True"}]}})",
     R"({"status":{"conditions":[{"status":"True","type":"Ready"}],)"
     R"("$setElementOrder/conditions":[{"type":"A"},{"type":"Ready"}]}})"},
    {"only the order changes", "Pod", R"({"status":{"podIPs":[{"ip":"a"},{"ip":"b"}]}})",
     R"({"status":{"podIPs":[{"ip":"b"},{"ip":"a"}]}})",
     R"({"status":{"$setElementOrder/podIPs":[{"ip":"b"},{"ip":"a"}]}})"},
    {"lists without a key are replaced", "Pod",
     R"({"status":{"containerStatuses":[{"name":"a","restartCount":1},{"name":"b"}]}})",
     R"({"status":{"containerStatuses":[{"name":"a","restartCount":2},{"name":"b"}]}})",
     R"({"status":{"containerStatuses":[{"name":"a","restartCount":2},{"name":"b"}]}})"},
    {"a key that occurs twice makes the list be replaced", "Node",
     R"({"status":{"addresses":[{"type":"InternalIP","address":"1"}]}})",
     R"({"status":{"addresses":[{"type":"InternalIP","address":"1"},)"
     R"({"type":"InternalIP","address":"2"}]}})",
     R"({"status":{"addresses":[{"type":"InternalIP","address":"1"},)"
     R"({"type":"InternalIP","address":"2"},{"$patch":"replace"}]}})"},
    {"quantities", "Node", R"({"status":{"capacity":{"cpu":"2","gpu":"1"}}})",
     R"({"status":{"capacity":{"cpu":"4","memory":"1Gi"}}})",
     R"({"status":{"capacity":{"cpu":"4","memory":"1Gi","gpu":null}}})"},
    {"scalars that merge", "Pod", R"({"metadata":{"finalizers":["a","b"]}})",
     R"({"metadata":{"finalizers":["b","c"]}})",
     R"({"metadata":{"finalizers":["c"],"$deleteFromPrimitiveList/finalizers":["a"],)"
     R"("$setElementOrder/finalizers":["b","c"]}})"},
    {"a union keeps what it names", "Pod", R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
     R"({"spec":{"volumes":[{"name":"v","secret":{"secretName":"s"}}]}})",
     R"({"spec":{"volumes":[{"secret":{"secretName":"s"},"emptyDir":null,)"
     R"("$retainKeys":["name","secret"],"name":"v"}],"$setElementOrder/volumes":[{"name":"v"}]}})"},
    {"a struct that is replaced", "PodDisruptionBudget",
     R"({"spec":{"selector":{"matchLabels":{"a":"1"}}}})",
     R"({"spec":{"selector":{"matchLabels":{"b":"1"}}}})",
     R"({"spec":{"selector":{"matchLabels":{"b":"1"}}}})"},
    {"another type of value", "Pod", R"({"status":{"x":{"a":1}}})", R"({"status":{"x":[1]}})",
     R"({"status":{"x":[1]}})"},
    {"an element without its key", "Pod", R"({"status":{"podIPs":[{"ip":"a"}]}})",
     R"({"status":{"podIPs":[{"IP":"a"}]}})",
     "map: map[IP:a] does not contain declared merge key: ip"},
};

json::object object_of(std::string_view text) { return wire::parse_json(text)->get_object(); }

TEST(StrategicDiff, IsUpstreamsPatchAndLeadsToTheOtherObject) {
  for (const DiffLine& line : lines) {
    SCOPED_TRACE(line.name);
    const json::object original = object_of(line.original);
    const auto patch = strategic_diff(line.kind, original, object_of(line.modified));
    EXPECT_EQ(patch ? wire::serialize(*patch) : patch.error().what, line.patch);
    if (!patch) continue;
    const auto result = strategic_patch(line.kind, original, *patch);
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(json::value(*result), json::value(object_of(line.modified)))
        << wire::serialize(*result);
  }
}

// Makes random objects with the fields and types of a kind.
class Shapes {
 public:
  explicit Shapes(unsigned seed) : random_(seed) {}

  json::object object(const StructType* type, int depth) {
    json::object made;
    for (const std::string_view name : names) {
      if (one_in(3)) made[name] = field(type, name, depth);
    }
    return made;
  }

  // A copy with some fields removed, some added and some changed.
  json::object changed(const StructType* type, const json::object& from, int depth) {
    json::object made;
    for (const auto& each : from) {
      if (one_in(6)) continue;
      const auto rule = find_patch_field(type, each.key());
      const bool deeper = each.value().is_object() && rule && rule->of != nullptr;
      if (deeper && one_in(2)) {
        made[each.key()] = changed(rule->of, each.value().get_object(), depth - 1);
      } else if (one_in(3)) {
        made[each.key()] = field(type, each.key(), depth);
      } else {
        made[each.key()] = each.value();
      }
    }
    for (const std::string_view name : names) {
      if (one_in(9)) made[name] = field(type, name, depth);
    }
    return made;
  }

 private:
  static constexpr std::array<std::string_view, 22> names = {"metadata",        "spec",
                                                             "status",          "finalizers",
                                                             "ownerReferences", "containers",
                                                             "volumes",         "env",
                                                             "ports",           "conditions",
                                                             "podIPs",          "hostIPs",
                                                             "addresses",       "containerStatuses",
                                                             "podCIDRs",        "strategy",
                                                             "template",        "selector",
                                                             "labels",          "phase",
                                                             "emptyDir",        "volumeMounts"};

  bool one_in(unsigned n) { return random_() % n == 0; }
  std::string word() { return std::string(1, static_cast<char>('a' + random_() % 5)); }

  json::value plain(int depth) {
    switch (random_() % (depth > 0 ? 5 : 3)) {
      case 0:
        return json::value(word());
      case 1:
        return json::value(static_cast<std::int64_t>(random_() % 3));
      case 2:
        return json::value(one_in(2));
      case 3:
        return json::array{plain(depth - 1), plain(depth - 1)};
      default:
        return object(nullptr, depth - 1);
    }
  }

  json::value field(const StructType* type, std::string_view name, int depth) {
    const auto rule = find_patch_field(type, name);
    if (!rule || (rule->of == nullptr && rule->how != PatchField::How::merge)) return plain(depth);
    if (rule->how != PatchField::How::merge) return object(rule->of, depth - 1);
    json::array list;
    std::string keys = "abcdef";
    std::shuffle(keys.begin(), keys.end(), random_);
    keys.resize(random_() % 5);
    for (const char key : keys) {
      if (rule->key.empty()) {
        list.push_back(json::value(std::string(1, key)));
        continue;
      }
      json::object element = depth > 0 ? object(rule->of, depth - 1) : json::object();
      if (one_in(2)) element["status"] = word();
      element[rule->key] = std::string(1, key);
      list.push_back(std::move(element));
    }
    // A node may have two addresses of one type, and an API server keeps both.
    const bool twice = !rule->key.empty() && !list.empty() && one_in(8);
    if (twice) {
      const json::value first = list[0];
      list.insert(list.begin(), first);
    }
    return list;
  }

  std::mt19937 random_;
};

TEST(StrategicDiff, LeadsFromAnyObjectToAnyOther) {
  const std::string_view kinds[] = {"Pod", "Node", "Deployment", "CSINode", "PodDisruptionBudget"};
  for (unsigned seed = 0; seed < 600; ++seed) {
    const std::string_view kind = kinds[seed % std::size(kinds)];
    Shapes shapes(seed);
    const StructType* type = find_type(kind);
    const json::object original = shapes.object(type, 4);
    const json::object modified =
        seed % 3 == 0 ? shapes.object(type, 4) : shapes.changed(type, original, 4);
    const auto patch = strategic_diff(kind, original, modified);
    ASSERT_TRUE(patch) << seed << ": " << patch.error().what;
    const auto result = strategic_patch(kind, original, *patch);
    ASSERT_TRUE(result) << seed << ": " << result.error().what;
    ASSERT_TRUE(json::value(*result) == json::value(modified)) << "seed " << seed;
    ASSERT_EQ(wire::serialize(*strategic_diff(kind, modified, modified)), "{}") << seed;
  }
}

}  // namespace
}  // namespace holdfast::sync::objects
