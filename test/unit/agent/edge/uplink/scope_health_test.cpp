// One list that cannot be fetched is marked and retried; nothing else waits for it.

#include <gtest/gtest.h>

#include "agent/edge/route/answer.h"
#include "platform/text.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

constexpr const char* bad = "/api/v1/namespaces/a/configmaps";
constexpr const char* bad_cached = "/api/v1/namespaces/a/configmaps?resourceVersion=0";
constexpr const char* good_cached = "/api/v1/services?resourceVersion=0";

bool is_bad_list(const http::Request& request) {
  return request.method == http::Method::get && request.path() == bad &&
         request.query().find("watch=") == std::string_view::npos;
}

// Waits until the agent is connected and has cached both lists.
void cache_two_lists(UplinkFixture& fixture) {
  fixture.cloud.put(bad, "one", R"({"data":{"a":"cached"}})");
  fixture.cloud.put("/api/v1/services", "web");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask(bad_cached).status, 200);
  ASSERT_EQ(fixture.ask(good_cached).status, 200);
  fixture.time.run(1s);
}

// The health of the bad scope in /v1/scopes: "refused: answered 403".
std::string health_of(UplinkFixture& fixture) {
  const auto rows = sync::wire::parse_json(fixture.admin("/v1/scopes")).value();
  for (const auto& row : rows.as_array()) {
    const auto& described = row.as_object();
    if (described.at("path").as_string() != bad) continue;
    const auto& state = described.at("health").as_object();
    std::string text(state.at("state").as_string());
    if (state.contains("reason")) {
      text += ": ";
      text += state.at("reason").as_string();
      EXPECT_TRUE(state.contains("for_seconds"));
    }
    return text;
  }
  return "none";
}

int journalled(UplinkFixture& fixture, std::string_view what) {
  const std::string journal = fixture.admin("/v1/journal?subject=" + std::string(bad));
  int count = 0;
  for (std::size_t at = journal.find(what); at != std::string::npos;
       at = journal.find(what, at + 1)) {
    ++count;
  }
  return count;
}

struct BadList {
  const char* what;
  http::Response answer;
  const char* state;
};

http::Response status_answer(int code) {
  return json_response(code, sync::wire::status::generic(code).body());
}

// Cuts the link and lets the API server forget the changes so far, so that all scopes are listed
// when the link is back.
void lose_history(UplinkFixture& fixture) {
  fixture.cut_link();
  fixture.cloud.compact();
}

// Answers the bad list with this status from now on.
void refuse_bad_list(UplinkFixture& fixture, int status) {
  fixture.servers[0]->special =
      [status](const http::Request& request) -> std::optional<http::Response> {
    if (!is_bad_list(request)) return std::nullopt;
    return status_answer(status);
  };
}

// A stream of these bytes, which then ends or breaks off.
class ShortWatch final : public http::BodyStream {
 public:
  ShortWatch(std::string bytes, bool breaks) : bytes_(std::move(bytes)), breaks_(breaks) {}
  asio::awaitable<Result<std::string>> next() override {
    if (bytes_.empty() && breaks_) co_return fail(Errc::unavailable, "broke");
    co_return std::exchange(bytes_, {});
  }
  void cancel() override {}

 private:
  std::string bytes_;
  bool breaks_;
};

TEST(ScopeHealth, WatchesThatBringNothingAreReportedAndAListShowsWhatTheyMissed) {
  struct Row {
    const char* what;
    int status;  // of a watch
    std::string bytes;
    bool breaks;
  };
  const Row rows[] = {
      {"ends at once", 200, "", false},
      {"breaks off at once", 200, "", true},
      {"breaks off in its first event", 200, R"({"type":"ADDED","obj)", true},
      {"ends in its first event", 200, R"({"type":"ADDED","obj)", false},
      {"is answered 503", 503, "", false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    UplinkFixture fixture;
    cache_two_lists(fixture);
    fixture.cut_link();
    fixture.servers[0]->special =
        [&row](const http::Request& request) -> std::optional<http::Response> {
      if (request.path() != bad || is_bad_list(request)) return std::nullopt;
      if (row.status != 200) return status_answer(row.status);
      http::Response watch = json_response(200, "");
      watch.stream = std::make_shared<ShortWatch>(row.bytes, row.breaks);
      return watch;
    };
    fixture.restore_link();
    fixture.cloud.put(bad, "two");
    const std::size_t before = fixture.cloud.asked.size();
    fixture.time.run(20s);
    // The rejoin waits for scopes that have no watch.
    EXPECT_EQ(health_of(fixture),
              row.status == 200 ? "ok" : "timeout: neither listed nor watched within 5s")
        << "a few may pass";
    EXPECT_EQ(fixture.cloud.count_lists(bad, before), 0);
    fixture.time.run(10min);
    EXPECT_TRUE(health_of(fixture).starts_with("failed: one watch after the other brings nothing"))
        << health_of(fixture);
    EXPECT_NE(fixture.ask(bad_cached).body.find("\"two\""), std::string::npos);
    const int lists = fixture.cloud.count_lists(bad, before);
    EXPECT_GE(lists, 2);
    EXPECT_LE(lists, 15);
    EXPECT_EQ(fixture.state(), LinkState::connected);
    EXPECT_EQ(journalled(fixture, "failed"), 1);
    // When watches work again, all is well.
    fixture.servers[0]->special = [](const http::Request&) { return std::nullopt; };
    fixture.time.run(6min);
    fixture.cloud.put(bad, "three");
    fixture.time.run(1s);
    EXPECT_EQ(health_of(fixture), "ok");
    EXPECT_NE(fixture.ask(bad_cached).body.find("\"three\""), std::string::npos);
  }
}

TEST(ScopeHealth, AListThatCannotBeFetchedDelaysNothingElse) {
  const BadList cases[] = {
      {"server error", status_answer(500), "failed"},
      {"gateway", status_answer(504), "failed"},
      {"forbidden", status_answer(403), "refused"},
      {"no such resource", status_answer(404), "refused"},
      {"cut off", json_response(200, R"({"kind":"ConfigMapList","items":[)"), "failed"},
      {"no list", json_response(200, "{}"), "failed"},
      {"silence", {.status = 0}, "timeout"},
  };
  for (const BadList& c : cases) {
    SCOPED_TRACE(c.what);
    UplinkFixture fixture;
    cache_two_lists(fixture);
    lose_history(fixture);
    http::Request write{.method = http::Method::post,
                        .target = "/api/v1/namespaces/a/events",
                        .headers = {{"User-Agent", "kubelet/v1"}},
                        .body = R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e"}})"};
    ASSERT_EQ(fixture.ask(write).status, 201);
    fixture.cloud.put("/api/v1/services", "new");
    fixture.servers[0]->special =
        [&c](const http::Request& request) -> std::optional<http::Response> {
      if (!is_bad_list(request)) return std::nullopt;
      return c.answer;
    };
    fixture.servers[0]->restore();
    const std::size_t from = fixture.cloud.asked.size();
    ASSERT_TRUE(fixture.until(LinkState::connected, 50s)) << fixture.reason();
    EXPECT_EQ(fixture.cloud.count("POST /api/v1/namespaces/a/events", from), 1);
    EXPECT_NE(fixture.ask(good_cached).body.find("\"new\""), std::string::npos);
    const std::string told = health_of(fixture);
    EXPECT_TRUE(told.starts_with(c.state)) << told;
    EXPECT_EQ(fixture.metric("holdfast_edge_scopes_unhealthy").size(), all_scope_faults.size());
    EXPECT_NE(fixture.admin("/v1/status").find(std::string("\"state\":\"") + c.state),
              std::string::npos);
    EXPECT_EQ(journalled(fixture, c.state), 1);

    // The last complete list is still served, and the link stays connected during the retries.
    fixture.time.run(5min);
    EXPECT_EQ(fixture.state(), LinkState::connected);
    // A list that is refused now and was granted before is tried after 30 s, 1 min, 2 min, 4 min.
    const bool refused = std::string_view(c.state) == "refused";
    const int lists = fixture.cloud.count_lists(bad, from);
    EXPECT_GE(lists, refused ? 4 : 3) << "the list is retried";
    EXPECT_LE(lists, refused ? 4 : 25) << "the agent must not list in a loop";
    EXPECT_EQ(journalled(fixture, c.state), 1) << "once for each change";
    fixture.cut_link();
    EXPECT_NE(fixture.ask(bad_cached).body.find("cached"), std::string::npos);

    fixture.servers[0]->special = [](const http::Request&) { return std::nullopt; };
    fixture.servers[0]->restore();
    ASSERT_TRUE(fixture.until(LinkState::connected));
    fixture.time.run(1s);
    EXPECT_EQ(health_of(fixture), "ok");
    EXPECT_EQ(journalled(fixture, "ok"), 1);
  }
}

TEST(ScopeHealth, ARefusedListIsListedAgainOnceACallerIsGrantedIt) {
  UplinkFixture fixture;
  cache_two_lists(fixture);
  lose_history(fixture);
  refuse_bad_list(fixture, 403);
  fixture.restore_link();
  EXPECT_EQ(fixture.ask(bad_cached).status, 403) << "while connected, the cloud answers";
  fixture.servers[0]->special = [](const http::Request&) { return std::nullopt; };
  EXPECT_EQ(health_of(fixture), "refused: 403 unknown");
  EXPECT_EQ(fixture.ask(bad_cached).status, 200);
  fixture.time.run(1s);
  EXPECT_EQ(health_of(fixture), "ok");
}

TEST(ScopeHealth, AMomentaryRefusalIsOverSoonWithoutACaller) {
  for (const int status : {403, 404}) {
    UplinkFixture fixture;
    cache_two_lists(fixture);
    lose_history(fixture);
    int refusals = 1;
    fixture.servers[0]->special =
        [&refusals, status](const http::Request& request) -> std::optional<http::Response> {
      if (!is_bad_list(request) || --refusals < 0) return std::nullopt;
      return status_answer(status);
    };
    fixture.restore_link();
    EXPECT_TRUE(health_of(fixture).starts_with("refused")) << status;
    fixture.time.run(35s);
    EXPECT_EQ(health_of(fixture), "ok") << status;
  }
}

TEST(ScopeHealth, AListThatWasNeverGrantedIsListedAgainAfterHalfAnHour) {
  UplinkFixture fixture;
  ASSERT_TRUE(fixture.until(LinkState::connected));
  refuse_bad_list(fixture, 403);
  EXPECT_NE(fixture.ask(bad_cached).status, 200);
  fixture.time.run(1s);
  fixture.servers[0]->special = [](const http::Request&) { return std::nullopt; };
  const std::size_t from = fixture.cloud.asked.size();
  fixture.time.run(29min);
  EXPECT_EQ(fixture.cloud.count("GET " + std::string(bad) + "?", from), 0);
  EXPECT_EQ(health_of(fixture), "refused: 403 unknown");
  fixture.time.run(2min);
  EXPECT_EQ(fixture.cloud.count_lists(bad, from), 1);
  EXPECT_EQ(health_of(fixture), "ok");
}

TEST(ScopeHealth, ManyBadListsAreAllShownAndTwentyAMinuteJournalled) {
  UplinkFixture fixture;
  ASSERT_TRUE(fixture.until(LinkState::connected));
  constexpr int lists = 25;
  const std::string many = "/api/v1/namespaces/many-";
  for (int i = 0; i < lists; ++i) {
    const std::string list = many + std::to_string(i) + "/configmaps?resourceVersion=0";
    ASSERT_EQ(fixture.ask(list).status, 200) << list;
  }
  fixture.time.run(1s);
  lose_history(fixture);
  fixture.servers[0]->special =
      [many](const http::Request& request) -> std::optional<http::Response> {
    if (!request.path().starts_with(many)) return std::nullopt;
    return status_answer(500);
  };
  fixture.restore_link();
  const auto rows_with = [&fixture](const std::string& page, std::string_view text) {
    int rows = 0;
    const auto document = sync::wire::parse_json(fixture.admin(page)).value();
    for (const auto& row : document.as_array()) {
      rows += sync::wire::serialize(row).find(text) != std::string::npos ? 1 : 0;
    }
    return rows;
  };
  EXPECT_EQ(rows_with("/v1/scopes", R"("state":"failed")"), lists);
  EXPECT_EQ(rows_with("/v1/journal?limit=1000", R"("kind":"scope")"), 20);
}

TEST(ScopeHealth, ABadListRecoversByItselfWhileConnected) {
  UplinkFixture fixture;
  cache_two_lists(fixture);
  lose_history(fixture);
  refuse_bad_list(fixture, 500);
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.time.run(1min);
  fixture.cloud.put(bad, "two");
  fixture.servers[0]->special = [](const http::Request&) { return std::nullopt; };
  fixture.time.run(5min);
  EXPECT_EQ(health_of(fixture), "ok");
  EXPECT_NE(fixture.ask(bad_cached).body.find("\"two\""), std::string::npos);
}

TEST(ScopeHealth, WhatWasNeverCompleteIsAskedForInTheCloudAndElseUnavailable) {
  UplinkFixture fixture;
  ASSERT_TRUE(fixture.until(LinkState::connected));
  refuse_bad_list(fixture, 403);
  EXPECT_NE(fixture.ask(bad_cached).status, 200);
  const std::size_t from = fixture.cloud.asked.size();
  EXPECT_EQ(fixture.ask(bad_cached).status, 403) << "the cloud answers";
  EXPECT_EQ(fixture.cloud.count("GET " + std::string(bad) + "?resourceVersion=0", from), 1);
  fixture.cut_link();
  EXPECT_EQ(fixture.ask(bad_cached).status, 503) << "never an empty list";
}

TEST(ScopeHealth, AWatchThatIsRefusedIsKnownAndDoesNotFlap) {
  UplinkFixture fixture;
  cache_two_lists(fixture);
  fixture.cut_link();
  fixture.servers[0]->special = [](const http::Request& request) -> std::optional<http::Response> {
    if (request.path() != bad || is_bad_list(request)) return std::nullopt;
    return status_answer(403);
  };
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const std::size_t from = fixture.cloud.asked.size();
  fixture.time.run(10min);
  EXPECT_TRUE(health_of(fixture).starts_with("refused")) << health_of(fixture);
  EXPECT_EQ(journalled(fixture, "refused"), 1);
  EXPECT_LE(fixture.cloud.count_lists(bad, from), 25);
}

}  // namespace
}  // namespace holdfast::agent::uplink
