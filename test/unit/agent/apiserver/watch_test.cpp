// Watches: where they start, which events they contain, how they end.

#include "platform/text.h"
#include "sync/wire/read.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

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
std::vector<std::string> events_now(ApiServerFixture& fixture, const TestResponse& response) {
  std::vector<std::string> events;
  for (const std::string& line : fixture.lines_now(response)) {
    const json::object event = json::parse(line).as_object();
    const json::object& object = event.at("object").as_object();
    events.push_back(std::string(sync::wire::as_text(event.at("type"))) + " " +
                     std::string(sync::wire::name_of(object)));
  }
  return events;
}

using Events = std::vector<std::string>;

TestResponse watch(ApiServerFixture& fixture, const std::string& query) {
  return fixture.ask({.target = std::string(maps) + "?watch=1" + query});
}

std::string version_of(const json::object& object) {
  return std::string(sync::wire::version_of(object));
}

TEST(Watch, StartsWithWhatThereIsAndGoesOn) {
  ApiServerFixture fixture(options_without_controllers());
  fixture.post(std::string(maps), config_map("a"));
  const TestResponse response = watch(fixture, "");
  EXPECT_EQ(events_now(fixture, response), (Events{"ADDED a"}));
  fixture.post(std::string(maps), config_map("b"));
  fixture.patch(std::string(maps) + "/a", {{"data", json::object{{"k", "v"}}}});
  fixture.remove(std::string(maps) + "/a");
  fixture.post("/api/v1/namespaces/kube-system/configmaps", config_map("elsewhere"));
  EXPECT_EQ(events_now(fixture, response), (Events{"ADDED b", "MODIFIED a", "DELETED a"}));
}

TEST(Watch, GoesOnFromAVersionAlsoAcrossARestart) {
  ApiServerFixture fixture(options_without_controllers());
  const std::string before = version_of(fixture.post(std::string(maps), config_map("a")));
  fixture.post(std::string(maps), config_map("b"));
  fixture.remove(std::string(maps) + "/a");
  const TestResponse first = watch(fixture, "&resourceVersion=" + before);
  EXPECT_EQ(events_now(fixture, first), (Events{"ADDED b", "DELETED a"}));
  fixture.restart();
  const TestResponse second = watch(fixture, "&resourceVersion=" + before);
  EXPECT_EQ(events_now(fixture, second), (Events{"ADDED b", "DELETED a"}));
}

TEST(Watch, OfADeletionHasTheDeletionsVersion) {
  ApiServerFixture fixture(options_without_controllers());
  const std::string before = version_of(fixture.post(std::string(maps), config_map("a")));
  fixture.remove(std::string(maps) + "/a");
  const TestResponse response = watch(fixture, "&resourceVersion=" + before);
  const json::object event = json::parse(fixture.lines_now(response).at(0)).as_object();
  const auto seen = parse_int<int>(version_of(event.at("object").as_object()));
  EXPECT_EQ(seen, *parse_int<int>(before) + 1);
}

TEST(Watch, OfASelectionSeesObjectsComeAndGo) {
  ApiServerFixture fixture(options_without_controllers());
  fixture.post(std::string(maps), config_map("a", "web"));
  fixture.post(std::string(maps), config_map("b", "db"));
  const TestResponse response = watch(fixture, "&labelSelector=app%3Dweb");
  EXPECT_EQ(events_now(fixture, response), (Events{"ADDED a"}));
  fixture.patch(std::string(maps) + "/b", config_map("b", "web"));
  fixture.patch(std::string(maps) + "/a", config_map("a", "db"));
  fixture.patch(std::string(maps) + "/a", {{"data", json::object{{"k", "v"}}}});
  fixture.remove(std::string(maps) + "/a");
  EXPECT_EQ(events_now(fixture, response), (Events{"ADDED b", "DELETED a"}));
}

TEST(Watch, ShowsWhatLeftTheSelectionAsItWas) {
  ApiServerFixture fixture(options_without_controllers());
  const std::string before = version_of(fixture.post(std::string(maps), config_map("a", "web")));
  const json::object now = fixture.patch(std::string(maps) + "/a", config_map("a", "db"));
  const TestResponse response =
      watch(fixture, "&labelSelector=app%3Dweb&resourceVersion=" + before);
  const json::object event = json::parse(fixture.lines_now(response).at(0)).as_object();
  const json::object& seen = event.at("object").as_object();
  EXPECT_EQ(sync::wire::dig_text(seen, {"metadata", "labels", "app"}), "web");
  EXPECT_EQ(version_of(seen), version_of(now));
}

TEST(Watch, OfOneObjectByName) {
  ApiServerFixture fixture(options_without_controllers());
  const TestResponse response = watch(fixture, "&fieldSelector=metadata.name%3Da");
  fixture.post(std::string(maps), config_map("a"));
  fixture.post(std::string(maps), config_map("b"));
  EXPECT_EQ(events_now(fixture, response), (Events{"ADDED a"}));
}

TEST(Watch, SaysSoWhenTheVersionIsForgotten) {
  ApiServerFixture fixture(options_without_controllers());
  const std::string before = version_of(fixture.post(std::string(maps), config_map("a")));
  fixture.post(std::string(maps), config_map("b"));
  ASSERT_TRUE(fixture.server().compact_now());
  TestResponse response = watch(fixture, "&resourceVersion=" + before);
  fixture.drain(response);
  const std::string now = std::to_string(*parse_int<int>(before) + 1);
  EXPECT_EQ(response.body,
            "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\","
            "\"metadata\":{},\"status\":\"Failure\",\"message\":\"too old resource version: " +
                before + " (" + now + ")\",\"reason\":\"Expired\",\"code\":410}}\n");
}

TEST(Watch, ForgetsHistoryInTime) {
  agent::lab::ApiServerOptions options = options_without_controllers();
  options.compact_after = 60s;
  ApiServerFixture fixture(options);
  fixture.post(std::string(maps), config_map("a"));
  fixture.advance(1s);
  EXPECT_EQ(fixture.server().registry().compacted(), 0);
  const std::int64_t then = fixture.server().registry().revision();
  fixture.post(std::string(maps), config_map("b"));
  fixture.advance(61s);
  EXPECT_EQ(fixture.server().registry().compacted(), then);
}

TEST(Watch, EndsWhenItsTimeIsUp) {
  ApiServerFixture fixture(options_without_controllers());
  TestResponse response = watch(fixture, "&timeoutSeconds=5");
  fixture.drain(response);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(fixture.clock().wall(), ApiServerFixture::start() + 5s);
  TestResponse long_one = watch(fixture, "");
  fixture.drain(long_one);
  EXPECT_GE(fixture.clock().wall(), ApiServerFixture::start() + 30min);
  EXPECT_LE(fixture.clock().wall(), ApiServerFixture::start() + 61min);
}

TEST(Watch, BookmarksComeEveryMinute) {
  ApiServerFixture fixture(options_without_controllers());
  const json::object made = fixture.post(std::string(maps), config_map("a"));
  const TestResponse response =
      watch(fixture, "&allowWatchBookmarks=true&resourceVersion=" + version_of(made));
  fixture.post("/api/v1/namespaces/kube-system/configmaps", config_map("elsewhere"));
  fixture.advance(61s);
  const std::string now = std::to_string(*parse_int<int>(version_of(made)) + 1);
  EXPECT_EQ(fixture.lines_now(response),
            (Events{"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":"
                    "\"v1\",\"metadata\":{\"resourceVersion\":\"" +
                    now + "\",\"creationTimestamp\":null}}}"}));
}

TEST(Watch, ListIsAWatchThatMarksItsEnd) {
  ApiServerFixture fixture(options_without_controllers());
  const json::object made = fixture.post(std::string(maps), config_map("a"));
  const TestResponse response = watch(fixture,
                                      "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                                      "&allowWatchBookmarks=true");
  const std::vector<std::string> lines = fixture.lines_now(response);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1],
            "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\","
            "\"metadata\":{\"resourceVersion\":\"" +
                version_of(made) +
                "\",\"creationTimestamp\":null,\"annotations\":{\"k8s.io/initial-events-end\":"
                "\"true\"}}}}");
}

TEST(Watch, CutsOffWhoDoesNotRead) {
  agent::lab::ApiServerOptions options = options_without_controllers();
  options.watches.pending = 2000;
  ApiServerFixture fixture(options);
  TestResponse response = watch(fixture, "");
  for (int number = 0; number < 20; ++number) {
    fixture.post(std::string(maps), config_map("a" + std::to_string(number)));
  }
  fixture.drain(response);
  // Whole events from the first one on, so that the client continues after the last of them.
  EXPECT_LE(response.body.size(), options.watches.pending);
  EXPECT_EQ(std::count(response.body.begin(), response.body.end(), '\n'), 8);
  EXPECT_TRUE(response.body.ends_with("}\n"));
  for (const char* name : {"a0", "a7"}) {
    EXPECT_NE(response.body.find("\"name\":\"" + std::string(name) + "\""), std::string::npos);
  }
}

TEST(Watch, ManyCostLittle) {
  ApiServerFixture fixture(options_without_controllers());
  std::vector<TestResponse> all;
  for (int number = 0; number < 500; ++number) all.push_back(watch(fixture, ""));
  fixture.post(std::string(maps), config_map("a"));
  for (const TestResponse& response : all)
    EXPECT_EQ(events_now(fixture, response), (Events{"ADDED a"}));
}

}  // namespace
}  // namespace holdfast::test
