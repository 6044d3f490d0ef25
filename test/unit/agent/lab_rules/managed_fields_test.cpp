// managedFields: scripts of writes by several managers.

#include "agent/lab/rules/managed_fields.h"

#include <boost/json.hpp>

#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

json::object managed_object(std::string_view text) { return json::parse(text).as_object(); }

// A ConfigMap that several managers write, one second after the other.
class Script {
 public:
  std::string apply(const std::string& manager, std::string_view configuration,
                    bool force = false) {
    auto made =
        apply_configuration(live_, managed_object(configuration), type_, by(manager), {}, force);
    if (!made) return made.error().message;
    live_ = *std::move(made);
    return "";
  }
  void update(const std::string& manager, std::string_view data) {
    json::object after = live_;
    after["data"] = json::parse(data);
    note_update(live_, after, type_, by(manager));
    live_ = std::move(after);
  }
  // From now on the object is one that the API server has stored.
  void store() { live_["metadata"].as_object()["creationTimestamp"] = "2026-11-21T01:23:13Z"; }
  [[nodiscard]] std::string data() const {
    return json::serialize(sync::wire::dig_object(live_, {"data"}));
  }
  // "manager operation: paths; ...".
  [[nodiscard]] std::string owners() const {
    std::string text;
    for (const ManagedEntry& entry : managed_entries(live_)) {
      if (!text.empty()) text += "; ";
      text += entry.manager + " " + entry.operation + ":";
      for (const std::string& path : paths_of(entry.fields)) text += " " + path;
    }
    return text;
  }
  [[nodiscard]] const json::object& live() const { return live_; }

 private:
  FieldManager by(const std::string& name) {
    now_ += std::chrono::seconds(1);
    return {name, "v1", "", now_};
  }

  MergeType type_ = MergeType::of(sync::known_type("ConfigMap"));
  json::object live_ =
      managed_object(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m"}})");
  WallTime now_ = parse_rfc3339("2026-11-21T01:23:14Z").value();
};

TEST(ManagedFields, AnApplyOwnsWhatItSets) {
  Script script;
  EXPECT_EQ(script.apply("a", R"({"metadata":{"name":"m"},"data":{"x":"1","y":"1"}})"), "");
  EXPECT_EQ(script.owners(), "a Apply: .data.x .data.y");
  EXPECT_EQ(json::serialize(script.live().at("metadata").at("managedFields")),
            R"([{"manager":"a","operation":"Apply","apiVersion":"v1",)"
            R"("time":"2026-11-21T01:23:15Z","fieldsType":"FieldsV1",)"
            R"("fieldsV1":{"f:data":{"f:x":{},"f:y":{}}}}])");
}

TEST(ManagedFields, AnApplyRemovesWhatItNoLongerSets) {
  Script script;
  script.apply("a", R"({"data":{"x":"1","y":"1"}})");
  script.apply("b", R"({"data":{"y":"1","z":"1"}})");
  EXPECT_EQ(script.apply("a", R"({"data":{}})"), "");
  EXPECT_EQ(script.data(), R"({"y":"1","z":"1"})");  // b still owns y
  EXPECT_EQ(script.owners(), "b Apply: .data.y .data.z; a Apply: .data");
}

TEST(ManagedFields, ConflictsNameTheManagers) {
  Script script;
  script.apply("a", R"({"data":{"x":"1"}})");
  script.update("u", R"({"x":"1","y":"1","z":"1"})");
  EXPECT_EQ(script.owners(), "a Apply: .data.x; u Update: .data.y .data.z");
  EXPECT_EQ(script.apply("b", R"({"data":{"x":"2"}})"),
            "Apply failed with 1 conflict: conflict with \"a\": .data.x");
  EXPECT_EQ(script.apply("b", R"({"data":{"x":"2","y":"2","z":"2"}})"),
            "Apply failed with 3 conflicts: conflicts with \"a\":\n- .data.x\n"
            "conflicts with \"u\" using v1:\n- .data.y\n- .data.z");
  EXPECT_EQ(script.data(), R"({"x":"1","y":"1","z":"1"})");
  EXPECT_EQ(script.apply("b", R"({"data":{"x":"2","y":"1"}})", true), "");
  EXPECT_EQ(script.data(), R"({"x":"2","y":"1","z":"1"})");
  EXPECT_EQ(script.owners(), "b Apply: .data.x .data.y; u Update: .data.y .data.z");
}

TEST(ManagedFields, TheStatusOfAConflictHasItsCauses) {
  const MergeType type = MergeType::of(sync::known_type("ConfigMap"));
  const json::object live = managed_object(
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m","managedFields":[)"
      R"({"manager":"a","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1",)"
      R"("fieldsV1":{"f:data":{"f:x":{}}}}]},"data":{"x":"1"}})");
  const auto made = apply_configuration(live, managed_object(R"({"data":{"x":"2"}})"), type,
                                        {"b", "v1", "", {}}, {}, false);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().body(),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"Apply failed with 1 conflict: conflict with \"a\": .data.x",)"
            R"("reason":"Conflict","details":{"causes":[{"reason":"FieldManagerConflict",)"
            R"("message":"conflict with \"a\"","field":".data.x"}]},"code":409})");
}

TEST(ManagedFields, AnUpdateTakesWhatItChanges) {
  Script script;
  script.apply("a", R"({"data":{"x":"1","y":"1"}})");
  script.update("u", R"({"x":"2"})");
  EXPECT_EQ(script.owners(), "u Update: .data.x");
  script.update("v", R"({"x":"2","n":"1"})");
  EXPECT_EQ(script.owners(), "u Update: .data.x; v Update: .data.n");
}

TEST(ManagedFields, ManyUpdatersBecomeAncientChanges) {
  Script script;
  for (char name = 'a'; name <= 'l'; ++name) {
    json::object data = sync::wire::dig_object(script.live(), {"data"});
    data[std::string(1, name)] = "1";
    script.update(std::string(1, name), json::serialize(data));
  }
  const ManagedEntries entries = managed_entries(script.live());
  ASSERT_EQ(entries.size(), 10U);
  EXPECT_EQ(entries.front().manager, "ancient-changes");
  EXPECT_EQ(paths_of(entries.front().fields),
            (std::vector<std::string>{".data", ".data.a", ".data.b", ".data.c"}));
}

TEST(ManagedFields, CanBeReset) {
  Script script;
  script.apply("a", R"({"data":{"x":"1"}})");
  json::object after = script.live();
  after["metadata"].as_object()["managedFields"] = json::array({json::object()});
  note_update(script.live(), after, MergeType::of(sync::known_type("ConfigMap")), {"u", "v1"});
  EXPECT_FALSE(after.at("metadata").as_object().contains("managedFields"));
}

// As in a kube-apiserver 1.36, which also records then what was there before.
TEST(ManagedFields, OfAStoredObjectThatHasNoneAreRecordedOnceItIsApplied) {
  Script script;
  script.store();
  script.update("u", R"({"x":"1"})");
  EXPECT_EQ(script.owners(), "");
  script.apply("a", R"({"data":{"y":"1"}})");
  EXPECT_EQ(script.owners(), "a Apply: .data.y");
  script.update("u", R"({"x":"2","y":"1"})");
  EXPECT_EQ(script.owners(), "a Apply: .data.y; u Update: .data.x");
}

TEST(ManagedFields, TheNameOfTheManager) {
  const auto name = [](std::string_view manager, std::string_view agent, bool applies) {
    const auto read = read_field_manager(manager, agent, applies);
    return read ? *read : read.error().message;
  };
  EXPECT_EQ(name("", "kubectl/v1.36 (linux)", false), "kubectl");
  EXPECT_EQ(name("me", "kubectl/v1.36", true), "me");
  EXPECT_EQ(name("", "kubectl/v1.36", true),
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required "
            "for apply patch");
  EXPECT_EQ(read_field_manager("a", "", false, true).error().message,
            "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for "
            "non-apply patch");
  EXPECT_EQ(name(std::string(129, 'x'), "", true),
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Too long: may not be more "
            "than 128 bytes");
  EXPECT_EQ(name("a\nb", "", true),
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Invalid value: \"a\\nb\": "
            "should only contain printable characters");
}

}  // namespace
}  // namespace holdfast::agent::lab
