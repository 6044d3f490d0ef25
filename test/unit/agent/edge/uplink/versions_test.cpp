// Which state the agent answers with: every combination of parameters as a kube-apiserver 1.36
// answers it, in front of the lab's API server and without it.

#include <limits>
#include <map>

#include "test/unit/agent/edge/uplink/versions_fixture.h"

namespace holdfast::agent {
namespace {

namespace json = boost::json;
using test::VersionRow;

TEST_F(VersionsTest, ConnectedTheAgentAnswersLikeAKubeApiserver) {
  for (const VersionRow& row : test::load_version_rows()) {
    EXPECT_EQ(described(row), row.expected) << row.text();
  }
}

// What the cloud alone knows is refused, so that no answer is older than what was asked for.
TEST_F(VersionsTest, OfflineTheAgentAnswersWithWhatItKnowsOrRefuses) {
  const std::string gone = "410 Expired: The resourceVersion for the provided list is too old: OLD";
  const std::string too_old = "410 Expired: too old resource version |  | ";
  const std::map<std::string, std::string> others = {
      {"list old limit=2", gone + " |  |  after 0 s"},
      {"list old resourceVersionMatch=Exact", gone + " |  |  after 0 s"},
      {"list old resourceVersionMatch=Exact&limit=2", gone + " |  |  after 0 s"},
      {"watch old ", too_old},
      {"watch old allowWatchBookmarks=true", too_old},
      {"watch old resourceVersionMatch=NotOlderThan&sendInitialEvents=false", too_old},
      {"watch old resourceVersionMatch=NotOlderThan&sendInitialEvents=false"
       "&allowWatchBookmarks=true",
       too_old}};
  cut();
  std::size_t differ = 0;
  for (const VersionRow& row : test::load_version_rows()) {
    const auto other = others.find(row.text());
    std::string expected = other == others.end() ? row.expected : other->second;
    // Nothing newer can arrive, so nothing is waited for.
    if (expected.ends_with(" after 3 s")) expected.replace(expected.size() - 3, 1, "0");
    EXPECT_EQ(described(row), expected) << row.text();
    if (other != others.end()) ++differ;
  }
  EXPECT_EQ(differ, others.size());
}

// The types of the events of a watch: "ADDED MODIFIED".
std::string event_types(const ToldVersions& told) {
  std::string types;
  for (const std::string& line : told.lines) {
    const json::value event = json::parse(line);
    types += (types.empty() ? "" : " ");
    types += sync::wire::dig_text(event.as_object(), {"type"});
  }
  return types;
}

// A write that was accepted offline makes the cache newer in its own way only.
TEST_F(VersionsTest, OfflineALocalVersionIsNotNewerThanTheClouds) {
  const std::string node = "/api/v1/nodes?fieldSelector=metadata.name%3Dedge1";
  EXPECT_EQ(ask(node + "&resourceVersion=0").response.status, 200);
  cut();
  http::Request write{.method = http::Method::patch,
                      .target = "/api/v1/nodes/edge1/status",
                      .headers = {{"User-Agent", "kubelet/v1"},
                                  {"Content-Type", "application/strategic-merge-patch+json"}},
                      .body = R"({"status":{"phase":"Running"}})"};
  ToldVersions written;
  time_.complete(asking(*local_, std::move(write), written));
  ASSERT_EQ(written.response.status, 200) << written.response.body;
  const json::value object = json::parse(written.response.body);
  const std::string local(sync::wire::version_of(object.as_object()));
  // A local version that was never assigned is as far ahead as one that the cloud does not have
  // yet.
  const std::string invented = std::to_string(std::stoull(local) + 1);
  const std::string largest = std::to_string(std::numeric_limits<std::uint64_t>::max());
  const std::pair<std::string, int> rows[] = {
      {"0", 200},           {local, 200},           {local + "&resourceVersionMatch=Exact", 200},
      {invented, 504},      {largest, 504},         {invented + "&resourceVersionMatch=Exact", 504},
      {versions_.old, 200}, {versions_.ahead, 504}, {versions_.old + "&limit=1", 410}};
  for (const auto& [asked, status] : rows) {
    EXPECT_EQ(ask(node + "&resourceVersion=" + asked).response.status, status) << asked;
  }
  const std::string by_name = "/api/v1/nodes/edge1?resourceVersion=";
  EXPECT_EQ(ask(by_name + local).response.status, 200);
  EXPECT_EQ(ask(by_name + invented).response.status, 504);
  const std::string events = node +
                             "&watch=true&timeoutSeconds=1&resourceVersionMatch=NotOlderThan" +
                             "&sendInitialEvents=true&resourceVersion=";
  EXPECT_EQ(event_types(ask(events + local)), "ADDED");
  EXPECT_EQ(event_types(ask(events + invented)), "ERROR");
}

// The API server has never shown that version. The conflict makes the client read again.
TEST_F(VersionsTest, AWriteThatNamesALocalVersionIsAConflict) {
  for (const bool is_local : {false, true}) {
    SCOPED_TRACE(is_local);
    const std::string version =
        is_local ? std::to_string(sync::objects::first_local_version + 7) : "";
    const int before = writes_;
    http::Request write{
        .method = http::Method::put,
        .target = versioned_maps + "/m8",
        .headers = {{"User-Agent", "kubelet/v1"}, {"Content-Type", "application/json"}},
        .body = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m8",)"
                R"("resourceVersion":")" +
                version + "\"}}"};
    ToldVersions written;
    time_.complete(asking(*local_, std::move(write), written));
    EXPECT_EQ(written.response.status, is_local ? 409 : 200) << written.response.body;
    EXPECT_EQ(writes_ - before, is_local ? 0 : 1);
  }
}

// The token of the first page is the API server's, which is gone when the second one is asked for.
TEST_F(VersionsTest, ALinkThatBreaksBetweenTwoPagesMakesTheClientListAgain) {
  const auto token_of = [](const ToldVersions& told) {
    const json::value body = json::parse(told.response.body);
    const auto token = sync::wire::dig_text(body.as_object(), {"metadata", "continue"});
    return percent_encode(std::string(token));
  };
  const std::string list = versioned_maps + "?limit=5";
  const std::string token = token_of(ask(list));
  EXPECT_NE(token, "");
  cut();
  const ToldVersions gone = ask(list + "&continue=" + token);
  EXPECT_EQ(gone.response.status, 410);
  EXPECT_EQ(token_of(gone), "");
  const std::string next = token_of(ask(list));
  const ToldVersions rest = ask(list + "&continue=" + next);
  EXPECT_EQ(json::parse(rest.response.body).as_object().at("items").as_array().size(), 3u);
}

TEST_F(VersionsTest, AnEmptyContinueTokenIsNone) {
  const std::string list = versioned_maps + "?limit=5&continue=";
  EXPECT_EQ(ask(list).response.status, 200);
  cut();
  const ToldVersions first = ask(list);
  EXPECT_EQ(first.response.status, 200) << first.response.body;
}

const std::string watch_list =
    versioned_maps +
    "?watch=true&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true"
    "&resourceVersionMatch=NotOlderThan";

class HangingWatches : public VersionsTest {
 protected:
  // The scope is watched anew, and learns nothing from then on.
  HangingWatches() {
    watches_hang_ = true;
    cut();
    time_.network().refuse(at_, false);
    EXPECT_TRUE(until(sync::autonomy::LinkState::connected));
    time_.run(1s);
  }

  // The number of objects, and the version at the end of the initial events.
  static std::string shown(const ToldVersions& told) {
    std::size_t added = 0;
    std::string end;
    for (const std::string& line : told.lines) {
      const json::object event = json::parse(line).as_object();
      const std::string_view type = sync::wire::dig_text(event, {"type"});
      if (type == "ADDED") ++added;
      if (type != "BOOKMARK") continue;
      end = sync::wire::dig_text(event, {"object", "metadata", "resourceVersion"});
    }
    return std::to_string(told.response.status) + " " + std::to_string(added) + " until " + end;
  }
};

TEST_F(HangingWatches, AWatchThatAsksForTheNewestGetsIt) {
  const std::string ninth = create(versioned_maps, "m9");
  EXPECT_EQ(described({.verb = "watch", .version = "0"}), "200 ADDED 8") << "any state will do";
  EXPECT_EQ(shown(ask(watch_list)), "200 9 until " + ninth);
  (void)create(versioned_maps, "m10");
  EXPECT_EQ(described({.verb = "watch", .version = "none"}), "200 ADDED 10");
  const std::string eleventh = create(versioned_maps, "m11");
  EXPECT_EQ(shown(ask(watch_list + "&resourceVersion=" + eleventh)), "200 11 until " + eleventh);
  const std::string twelfth = create(versioned_maps, "m12");
  const ToldVersions list = ask(versioned_maps + "?resourceVersion=" + twelfth);
  EXPECT_EQ(json::parse(list.response.body).as_object().at("items").as_array().size(), 12u);
  cut();
  EXPECT_EQ(described({.verb = "watch", .version = "none"}), "200 ADDED 11") << "what it knows";
}

TEST_F(HangingWatches, WatchesThatAskForTheNewestTogetherShareAList) {
  const std::string ninth = create(versioned_maps, "m9");
  const int before = lists_;
  std::vector<ToldVersions> all(5);
  for (ToldVersions& told : all) {
    http::Request request{.target = watch_list, .headers = {{"User-Agent", "kubelet/v1"}}};
    tasks_.spawn("watch", asking(*local_, std::move(request), told));
  }
  time_.run(5s);
  for (const ToldVersions& told : all) EXPECT_EQ(shown(told), "200 9 until " + ninth);
  EXPECT_EQ(lists_ - before, 1);
}

TEST_F(HangingWatches, WithoutAnAnswerOfTheCloudTheyGetWhatIsKnown) {
  const std::string known = listed_version();
  (void)create(versioned_maps, "m9");
  time_.network().set_link(at_, {.is_silent = true});
  EXPECT_EQ(shown(ask(watch_list)), "200 8 until " + known);
}

}  // namespace
}  // namespace holdfast::agent
