// Watches: where they start, which events they contain, how they end.

#include "platform/text.h"
#include "sync/wire/read.h"
#include "test/unit/agent/apiserver/rig.h"

namespace holdfast::test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr std::string_view maps = "/api/v1/namespaces/default/configmaps";

json::object config_map(std::string_view name, std::string_view label = "") {
  json::object made = {{"metadata", json::object{{"name", name}}}};
  if (!label.empty()) {
    made["metadata"].as_object()["labels"] = json::object{{"app", label}};
  }
  return made;
}

// The events that are available now: "ADDED a", "MODIFIED b".
std::vector<std::string> events_now(Rig& rig, const Told& told) {
  std::vector<std::string> events;
  for (const std::string& line : rig.lines_now(told)) {
    const json::object event = json::parse(line).as_object();
    const json::object& object = event.at("object").as_object();
    events.push_back(std::string(sync::wire::as_text(event.at("type"))) + " " +
                     std::string(sync::wire::name_of(object)));
  }
  return events;
}

using Events = std::vector<std::string>;

Told watch(Rig& rig, const std::string& query) {
  return rig.ask({.target = std::string(maps) + "?watch=1" + query});
}

std::string version_of(const json::object& object) {
  return std::string(sync::wire::version_of(object));
}

TEST(Watch, StartsWithWhatThereIsAndGoesOn) {
  Rig rig(quiet());
  rig.post(std::string(maps), config_map("a"));
  const Told told = watch(rig, "");
  EXPECT_EQ(events_now(rig, told), (Events{"ADDED a"}));
  rig.post(std::string(maps), config_map("b"));
  rig.patch(std::string(maps) + "/a", {{"data", json::object{{"k", "v"}}}});
  rig.remove(std::string(maps) + "/a");
  rig.post("/api/v1/namespaces/kube-system/configmaps", config_map("elsewhere"));
  EXPECT_EQ(events_now(rig, told), (Events{"ADDED b", "MODIFIED a", "DELETED a"}));
}

TEST(Watch, GoesOnFromAVersionAlsoAcrossARestart) {
  Rig rig(quiet());
  const std::string before = version_of(rig.post(std::string(maps), config_map("a")));
  rig.post(std::string(maps), config_map("b"));
  rig.remove(std::string(maps) + "/a");
  const Told first = watch(rig, "&resourceVersion=" + before);
  EXPECT_EQ(events_now(rig, first), (Events{"ADDED b", "DELETED a"}));
  rig.restart();
  const Told second = watch(rig, "&resourceVersion=" + before);
  EXPECT_EQ(events_now(rig, second), (Events{"ADDED b", "DELETED a"}));
}

TEST(Watch, OfADeletionHasTheDeletionsVersion) {
  Rig rig(quiet());
  const std::string before = version_of(rig.post(std::string(maps), config_map("a")));
  rig.remove(std::string(maps) + "/a");
  const Told told = watch(rig, "&resourceVersion=" + before);
  const json::object event = json::parse(rig.lines_now(told).at(0)).as_object();
  const auto seen = parse_int<int>(version_of(event.at("object").as_object()));
  EXPECT_EQ(seen, *parse_int<int>(before) + 1);
}

TEST(Watch, OfASelectionSeesObjectsComeAndGo) {
  Rig rig(quiet());
  rig.post(std::string(maps), config_map("a", "web"));
  rig.post(std::string(maps), config_map("b", "db"));
  const Told told = watch(rig, "&labelSelector=app%3Dweb");
  EXPECT_EQ(events_now(rig, told), (Events{"ADDED a"}));
  rig.patch(std::string(maps) + "/b", config_map("b", "web"));
  rig.patch(std::string(maps) + "/a", config_map("a", "db"));
  rig.patch(std::string(maps) + "/a", {{"data", json::object{{"k", "v"}}}});
  rig.remove(std::string(maps) + "/a");
  EXPECT_EQ(events_now(rig, told), (Events{"ADDED b", "DELETED a"}));
}

TEST(Watch, ShowsWhatLeftTheSelectionAsItWas) {
  Rig rig(quiet());
  const std::string before = version_of(rig.post(std::string(maps), config_map("a", "web")));
  const json::object now = rig.patch(std::string(maps) + "/a", config_map("a", "db"));
  const Told told = watch(rig, "&labelSelector=app%3Dweb&resourceVersion=" + before);
  const json::object event = json::parse(rig.lines_now(told).at(0)).as_object();
  const json::object& seen = event.at("object").as_object();
  EXPECT_EQ(sync::wire::dig_text(seen, {"metadata", "labels", "app"}), "web");
  EXPECT_EQ(version_of(seen), version_of(now));
}

TEST(Watch, OfOneObjectByName) {
  Rig rig(quiet());
  const Told told = watch(rig, "&fieldSelector=metadata.name%3Da");
  rig.post(std::string(maps), config_map("a"));
  rig.post(std::string(maps), config_map("b"));
  EXPECT_EQ(events_now(rig, told), (Events{"ADDED a"}));
}

TEST(Watch, SaysSoWhenTheVersionIsForgotten) {
  Rig rig(quiet());
  const std::string before = version_of(rig.post(std::string(maps), config_map("a")));
  rig.post(std::string(maps), config_map("b"));
  ASSERT_TRUE(rig.server().compact_now());
  Told told = watch(rig, "&resourceVersion=" + before);
  rig.drain(told);
  const std::string now = std::to_string(*parse_int<int>(before) + 1);
  EXPECT_EQ(told.body,
            "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\","
            "\"metadata\":{},\"status\":\"Failure\",\"message\":\"too old resource version: " +
                before + " (" + now + ")\",\"reason\":\"Expired\",\"code\":410}}\n");
}

TEST(Watch, ForgetsHistoryInTime) {
  agent::lab::ApiServerOptions options = quiet();
  options.compact_after = 60s;
  Rig rig(options);
  rig.post(std::string(maps), config_map("a"));
  rig.advance(1s);
  EXPECT_EQ(rig.server().registry().compacted(), 0);
  const std::int64_t then = rig.server().registry().revision();
  rig.post(std::string(maps), config_map("b"));
  rig.advance(61s);
  EXPECT_EQ(rig.server().registry().compacted(), then);
}

TEST(Watch, EndsWhenItsTimeIsUp) {
  Rig rig(quiet());
  Told told = watch(rig, "&timeoutSeconds=5");
  rig.drain(told);
  EXPECT_EQ(told.body, "");
  EXPECT_EQ(rig.clock().wall(), Rig::start() + 5s);
  Told long_one = watch(rig, "");
  rig.drain(long_one);
  EXPECT_GE(rig.clock().wall(), Rig::start() + 30min);
  EXPECT_LE(rig.clock().wall(), Rig::start() + 61min);
}

TEST(Watch, BookmarksComeEveryMinute) {
  Rig rig(quiet());
  const json::object made = rig.post(std::string(maps), config_map("a"));
  const Told told = watch(rig, "&allowWatchBookmarks=true&resourceVersion=" + version_of(made));
  rig.post("/api/v1/namespaces/kube-system/configmaps", config_map("elsewhere"));
  rig.advance(61s);
  const std::string now = std::to_string(*parse_int<int>(version_of(made)) + 1);
  EXPECT_EQ(rig.lines_now(told),
            (Events{"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":"
                    "\"v1\",\"metadata\":{\"resourceVersion\":\"" +
                    now + "\",\"creationTimestamp\":null}}}"}));
}

TEST(Watch, ListIsAWatchThatMarksItsEnd) {
  Rig rig(quiet());
  const json::object made = rig.post(std::string(maps), config_map("a"));
  const Told told = watch(rig,
                          "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                          "&allowWatchBookmarks=true");
  const std::vector<std::string> lines = rig.lines_now(told);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1],
            "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\","
            "\"metadata\":{\"resourceVersion\":\"" +
                version_of(made) +
                "\",\"creationTimestamp\":null,\"annotations\":{\"k8s.io/initial-events-end\":"
                "\"true\"}}}}");
}

TEST(Watch, CutsOffWhoDoesNotRead) {
  agent::lab::ApiServerOptions options = quiet();
  options.watches.pending = 2000;
  Rig rig(options);
  Told told = watch(rig, "");
  for (int number = 0; number < 20; ++number) {
    rig.post(std::string(maps), config_map("a" + std::to_string(number)));
  }
  rig.drain(told);
  EXPECT_EQ(told.body, "");  // broken off instead of ended, so that the client lists again
}

TEST(Watch, ManyCostLittle) {
  Rig rig(quiet());
  std::vector<Told> all;
  for (int number = 0; number < 500; ++number) all.push_back(watch(rig, ""));
  rig.post(std::string(maps), config_map("a"));
  for (const Told& told : all) EXPECT_EQ(events_now(rig, told), (Events{"ADDED a"}));
}

}  // namespace
}  // namespace holdfast::test
