// Tokens without the cloud: a stored token is given whatever any clock says, until its pod is gone.

#include <gtest/gtest.h>

#include "platform/http/date.h"
#include "platform/text.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::stored_token {
namespace {

using std::chrono::hours;
using sync::autonomy::LinkState;

constexpr const char* token_path = "/api/v1/namespaces/a/serviceaccounts/default/token";
constexpr const char* pods = "/api/v1/namespaces/a/pods";
constexpr const char* our_pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1";
constexpr hours day(24);

std::int64_t seconds_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::string body_for(const std::string& uid) {
  return R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","spec":{)"
         R"("audiences":null,"expirationSeconds":3607,"boundObjectRef":{"kind":"Pod",)"
         R"("apiVersion":"v1","name":"p","uid":")" +
         uid + R"("}}})";
}

http::Request request_for(const std::string& uid) {
  http::Request request{.method = http::Method::post, .target = token_path, .body = body_for(uid)};
  request.headers.add("User-Agent", "kubelet/v1");
  request.headers.add("Content-Type", "application/json");
  return request;
}

// How long the API server says that a token lasts, and how long it does. By default these are its
// answers to the kubelet's request for a pod's default token.
struct Lifetime {
  Duration said = std::chrono::seconds(3607);
  Duration real = 365 * day;
};

std::string token_of(WallTime ends) {
  const std::string claims = R"({"exp":)" + std::to_string(seconds_of(ends)) + "}";
  std::string text = base64_encode(claims);
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return "h." + text.substr(0, text.find('=')) + ".s";
}

// Answers requests for tokens as the API server does.
void issue_tokens(UplinkFixture& fixture, Lifetime lifetime = {}) {
  fixture.servers[0]->special =
      [&fixture, lifetime](const http::Request& request) -> std::optional<http::Response> {
    if (request.path() != token_path) return std::nullopt;
    const WallTime now = fixture.time.clock().wall();
    std::string body = request.body;
    body.pop_back();
    body += R"(,"status":{"token":")" + token_of(now + lifetime.real) +
            R"(","expirationTimestamp":")" + format_rfc3339(now + lifetime.said) + "\"}}";
    return http::Response{
        .status = 201, .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
  };
}

void put_pod(UplinkFixture& fixture, const std::string& name) {
  fixture.cloud.put(
      pods, name,
      R"({"spec":{"nodeName":"edge1","serviceAccountName":"default","volumes":[{"name":"t",)"
      R"("projected":{"sources":[{"serviceAccountToken":{"path":"token"}}]}}]}})");
}

// A connected agent that knows the pod "p" and its token.
void prepare(UplinkFixture& fixture, Lifetime lifetime = {}) {
  issue_tokens(fixture, lifetime);
  put_pod(fixture, "p");
  fixture.cloud.put("/api/v1/nodes", "edge1", R"({"status":{"allocatable":{"pods":"110"}}})");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask(our_pods).status, 200);
  ASSERT_EQ(fixture.ask("/api/v1/nodes?fieldSelector=metadata.name%3Dedge1").status, 200);
  ASSERT_EQ(fixture.ask(request_for("uid-p")).status, 201);
}

// The texts of the journal's records of kind "token".
std::vector<std::string> told_of_tokens(UplinkFixture& fixture) {
  std::vector<std::string> told;
  const auto rows = sync::wire::parse_json(fixture.admin("/v1/journal?limit=1000")).value();
  for (const auto& row : rows.as_array()) {
    if (row.at("kind") != "token") continue;
    told.push_back(std::string(row.at("subject").as_string()) + ": " +
                   std::string(row.at("what").as_string()));
  }
  return told;
}

TEST(StoredTokens, AreGivenOfflineWhateverTheClockSays) {
  struct Case {
    const char* what;
    std::function<void(UplinkFixture&)> happen;
    Lifetime lifetime = {};
    bool ended = false;  // by the node's clock
  };
  const Lifetime short_one{.said = 1h, .real = 1h};
  const auto jump = [](Duration by) {
    return [by](UplinkFixture& fixture) { fixture.time.clock().jump_wall(by); };
  };
  const auto wait = [](Duration time) {
    return [time](UplinkFixture& fixture) { fixture.time.run(time); };
  };
  const Case cases[] = {
      {"at once", wait(1s)},
      {"after two hours", wait(2h)},
      {"after two years", [](auto& fixture) { fixture.time.clock().advance(730 * day); }, {}, true},
      {"an hour after its end", wait(2h), short_one, true},
      {"a clock three hours ahead", jump(3h), short_one, true},
      {"a clock two hours behind", jump(-2h), short_one},
      {"a clock in 1970",
       [](auto& fixture) {
         auto& clock = fixture.time.clock();
         clock.jump_wall(WallTime(10s) - clock.wall());
       },
       short_one},
      {"a restart after its end",
       [](auto& fixture) {
         fixture.stop();
         fixture.time.clock().advance(30 * day);
         fixture.start();
         fixture.time.run(1min);
       },
       short_one, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    UplinkFixture fixture(
        {.set = [](EdgeOptions& options) { options.housekeeping_interval = 1min; }});
    prepare(fixture, c.lifetime);
    const std::string issued = fixture.ask(request_for("uid-p")).body;
    fixture.cut_link();
    c.happen(fixture);
    for (int i = 0; i < 3; ++i) {
      const http::Response given = fixture.ask(request_for("uid-p"));
      EXPECT_EQ(given.status, 201) << given.body;
      EXPECT_EQ(given.body, issued);
    }
    EXPECT_EQ(fixture.ask(request_for("uid-other")).status, 503) << "of another pod";
    EXPECT_EQ(told_of_tokens(fixture).size(), c.ended ? 1U : 0U) << "once for each token";
    const std::string ready = fixture.admin("/v1/ready");
    EXPECT_NE(ready.find(R"("ready":true)"), std::string::npos) << ready;
    EXPECT_EQ(ready.find(R"("reason":"token_ends")") != std::string::npos, c.ended) << ready;
  }
}

TEST(StoredTokens, AnEndIsToldWithItsTime) {
  UplinkFixture fixture;
  prepare(fixture, {.said = 1h, .real = 1h});
  const std::string ends = format_rfc3339(fixture.time.clock().wall() + 1h);
  fixture.cut_link();
  fixture.time.run(2h);
  EXPECT_EQ(fixture.ask(request_for("uid-p")).status, 201);
  const std::vector<std::string> told = told_of_tokens(fixture);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].substr(0, told[0].find(" ended at ")),
            "serviceaccounts/a/default: a token that");
  EXPECT_NE(told[0].find("by this node's clock is given"), std::string::npos) << told[0];
}

// One API server whose clock is two days ahead raises the agent's own clock, which remembers that.
TEST(StoredTokens, SurviveAnApiServerWhoseClockIsAhead) {
  UplinkFixture fixture(
      {.set = [](EdgeOptions& options) { options.housekeeping_interval = 1min; }});
  prepare(fixture, {.said = 1h, .real = 1h});
  const auto tokens = fixture.servers[0]->special;
  fixture.servers[0]->special =
      [&fixture, tokens](const http::Request& request) -> std::optional<http::Response> {
    if (request.path() == token_path) return tokens(request);
    if (request.method != http::Method::get || request.path() != "/version") return std::nullopt;
    http::Response answer{.status = 200, .body = "{}"};
    answer.headers.set("Date", http::format_date(fixture.time.clock().wall() + 2 * day));
    return answer;
  };
  ASSERT_EQ(fixture.ask("/version").status, 200);
  fixture.time.run(5min);  // housekeeping runs while connected
  fixture.cut_link();
  EXPECT_EQ(fixture.ask(request_for("uid-p")).status, 201);
  fixture.stop();
  fixture.start();
  fixture.time.run(1min);
  EXPECT_EQ(fixture.ask(request_for("uid-p")).status, 201);
}

TEST(StoredTokens, AreRemovedWhenTheirPodIsGone) {
  UplinkFixture fixture(
      {.set = [](EdgeOptions& options) { options.housekeeping_interval = 1min; }});
  prepare(fixture);
  put_pod(fixture, "q");
  fixture.time.run(10s);
  ASSERT_EQ(fixture.ask(request_for("uid-q")).status, 201);
  fixture.time.run(2min);

  // Offline nothing is removed, even if the kubelet deletes the pod.
  fixture.cut_link();
  EXPECT_EQ(fixture.ask(request_for("uid-q")).status, 201);
  fixture.restore_link();

  fixture.cloud.remove(pods, "q");
  fixture.time.run(2min);
  fixture.cut_link();
  EXPECT_EQ(fixture.ask(request_for("uid-q")).status, 503);
  EXPECT_EQ(fixture.ask(request_for("uid-p")).status, 201);
}

}  // namespace
}  // namespace holdfast::agent::uplink::stored_token
