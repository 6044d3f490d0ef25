// The uplink is cut at one of fifty points of the conversation, and the kubelet starts again
// without it: everything that was known is answered, in any order, and nothing that was not empty
// is empty.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sync/autonomy/version.h"
#include "sync/protobuf/decode.h"
#include "sync/protobuf/envelope.h"
#include "sync/protobuf/frames.h"
#include "sync/protobuf/header.h"
#include "sync/protobuf/list.h"
#include "test/unit/agent/edge/replay/stage.h"

namespace holdfast::agent::replay {
namespace {

constexpr int points = 50;
constexpr int groups = 10;  // tests, which run side by side

// What was known when the uplink was cut.
struct Known {
  explicit Known(int last) {
    for (const Exchange& exchange : recording()) {
      if (exchange.line > last) break;
      const bool well = exchange.status < 300;
      token = token || exchange.is_token();
      node = node || (well && exchange.request.path().starts_with("/api/v1/nodes/"));
      csi_node = csi_node || (well && exchange.request.path().ends_with("/csinodes"));
      csi_node = csi_node || (well && exchange.request.path().ends_with("/csinodes/edge1"));
      if (exchange.is_list()) lists.push_back(scope_of(exchange.request));
      for (const char* pod : {"web", "hostnet"}) {
        const std::string path = std::string("/api/v1/namespaces/default/pods/") + pod;
        if (exchange.request.path() == path) pods.emplace_back(path);
      }
    }
  }
  [[nodiscard]] bool list(const std::string& scope) const {
    return std::find(lists.begin(), lists.end(), scope) != lists.end();
  }
  [[nodiscard]] bool pod(std::string_view path) const {
    return std::find(pods.begin(), pods.end(), path) != pods.end();
  }

  bool token = false;
  bool node = false;
  bool csi_node = false;
  std::vector<std::string> lists;
  std::vector<std::string> pods;
};

// The kubelet's requests when it starts again, in an order of their own.
std::vector<Exchange> restart_sequence(int seed) {
  std::vector<Exchange> sequence;
  for (const Exchange& exchange : recording()) {
    if (exchange.line >= second_start && exchange.line <= 165) sequence.push_back(exchange);
  }
  std::shuffle(sequence.begin(), sequence.end(), std::mt19937(static_cast<unsigned>(seed)));
  return sequence;
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  const sync::ListBytes listed = sync::split_protobuf_list(list).value();
  for (const std::string_view item : listed.items) {
    const std::string object = sync::enveloped("v1", "Any", item);
    names.push_back(sync::read_protobuf_header(object).value().name);
  }
  return names;
}

void check_list(const Stage& stage, const Exchange& exchange, const http::Response& response,
                bool known) {
  if (!known) {
    EXPECT_EQ(response.status, 503) << exchange.name();
    EXPECT_EQ(response.headers.get("retry-after"), "") << exchange.name();
    return;
  }
  ASSERT_EQ(response.status, 200) << exchange.name() << ": " << response.body;
  const sync::ListBytes list = sync::split_protobuf_list(response.body).value();
  EXPECT_NE(list.head.resource_version, "") << exchange.name();
  std::vector<std::string> expected;
  const FakeUpstream::Objects* objects = stage.upstream.objects(scope_of(exchange.request));
  ASSERT_NE(objects, nullptr);
  for (const auto& [name, bytes] : *objects) expected.push_back(name);
  EXPECT_EQ(names_in(response.body), expected) << exchange.name();
}

// The status that a known or unknown thing is answered with.
void check_status(const Exchange& exchange, const http::Response& response, bool known,
                  int status) {
  EXPECT_EQ(response.status, known ? status : 503) << exchange.name() << ": " << response.body;
}

void check(const Stage& stage, const Known& known, const Exchange& exchange,
           const http::Response& response) {
  const std::string_view path = exchange.request.path();
  const bool read = exchange.request.method == http::Method::get;
  if (exchange.is_lease() || path.ends_with("/events")) {
    EXPECT_TRUE(response.status == 200 || response.status == 201) << exchange.name();
  } else if (exchange.is_list()) {
    check_list(stage, exchange, response, known.list(scope_of(exchange.request)));
  } else if (exchange.is_watch) {
    check_status(exchange, response, known.list(scope_of(exchange.request)), 200);
  } else if (exchange.is_token()) {
    check_status(exchange, response, known.token, 201);
  } else if (path.find("/csinodes/") != std::string_view::npos) {
    // Before it was made, the server said 404, and so does who knows that it is complete.
    if (known.csi_node) check_status(exchange, response, true, 200);
    EXPECT_NE(response.status, 0) << exchange.name();
  } else if (path.find("/pods/") != std::string_view::npos) {
    if (known.pod(path)) check_status(exchange, response, true, 200);
    EXPECT_NE(response.status, 404) << exchange.name() << ": taken for a deletion";
  } else if (path == "/api/v1/nodes") {
    check_status(exchange, response, known.node, 409);
  } else if (path.starts_with("/api/v1/nodes/") && known.node) {
    check_status(exchange, response, true, 200);
  } else {
    EXPECT_TRUE(!read || path.starts_with("/api/v1/nodes/")) << "not judged: " << exchange.name();
  }
}

// A watch begins where the kubelet's own list ended.
http::Request watch_request(Stage& stage, const Exchange& watch) {
  http::Request list = watch.request;
  auto query = http::Query::parse(watch.request.query()).value();
  query.remove("watch");
  query.set("resourceVersion", "0");
  list.target = std::string(list.path()) + "?" + query.encode();
  const http::Response answer = stage.ask(list);
  if (answer.status != 200) return watch.request;
  const sync::ListBytes listed = sync::split_protobuf_list(answer.body).value();
  query.set("watch", "true");
  query.set("resourceVersion", listed.head.resource_version);
  http::Request request = watch.request;
  request.target = std::string(list.path()) + "?" + query.encode();
  return request;
}

class Cut : public testing::TestWithParam<int> {};

TEST_P(Cut, ARestartedKubeletIsAnsweredFromWhatWasKnown) {
  for (int point = GetParam(); point < points; point += groups) {
    const int last = recording().back().line * (point + 1) / points;
    SCOPED_TRACE("cut after line " + std::to_string(last));
    Stage stage;
    stage.play(last, [](const Exchange&, const http::Response&) {});
    stage.cut();
    if (point % 2 == 1) stage.restart_agent();
    const Known known(last);
    for (const Exchange& exchange : restart_sequence(point)) {
      const http::Response response =
          stage.ask(exchange.is_watch ? watch_request(stage, exchange) : exchange.request);
      check(stage, known, exchange, response);
      if (response.stream) response.stream->cancel();
    }
  }
}

TEST(Offline, AStatusPatchChangesTheProtobufThatIsCached) {
  Stage stage;
  stage.play(45, [](const Exchange&, const http::Response&) {});
  stage.cut();
  http::Request get{.target = "/api/v1/nodes/edge1"};
  get.headers = recording().front().request.headers;
  const std::string before = stage.ask(get).body;

  http::Request patch = get;
  patch.method = http::Method::patch;
  patch.target = "/api/v1/nodes/edge1/status?timeout=10s";
  patch.headers.set("Content-Type", "application/strategic-merge-patch+json");
  patch.body = R"({"status":{"conditions":[{"type":"Ready","status":"False","reason":"x"}]}})";
  const http::Response answer = stage.ask(patch);
  EXPECT_EQ(answer.status, 200) << answer.body;
  stage.time.settle();

  const std::string after = stage.ask(get).body;
  EXPECT_EQ(answer.body, after) << "the answer is what is cached";
  const sync::Node was = sync::decode_protobuf<sync::Node>(before).value();
  const sync::Node is = sync::decode_protobuf<sync::Node>(after).value();
  ASSERT_EQ(is.status.conditions.size(), was.status.conditions.size());
  for (const sync::NodeCondition& condition : is.status.conditions) {
    EXPECT_EQ(condition.reason == "x", condition.type == "Ready");
  }
  EXPECT_GT(std::stoull(is.metadata.resource_version), sync::first_local_version - 1);
  EXPECT_EQ(is.spec, was.spec);
  ASSERT_FALSE(stage.watches.empty());
  ASSERT_FALSE(stage.watches.front()->events.empty());
  EXPECT_EQ(stage.watches.front()->events.back(),
            sync::encode_protobuf_event(sync::WatchEvent::Type::modified, after));
}

TEST(Offline, ANarrowerQuestionIsAnsweredFromAWiderAnswer) {
  struct Row {
    std::string_view target;
    int status;
    std::vector<std::string> names;
  };
  const Row rows[] = {
      {"/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName%3Dedge1",
       200,
       {"hostnet", "web"}},
      {"/api/v1/namespaces/other/pods?fieldSelector=spec.nodeName%3Dedge1", 200, {}},
      {"/api/v1/services?labelSelector=component%3Dapiserver", 200, {"kubernetes"}},
      {"/api/v1/services?labelSelector=component%21%3Dapiserver", 200, {}},
      {"/api/v1/services?fieldSelector=metadata.name%3Dkubernetes", 200, {"kubernetes"}},
      {"/api/v1/namespaces/default/services", 200, {"kubernetes"}},
      {"/api/v1/services?fieldSelector=spec.foo%3Dbar", 503, {}},
      {"/api/v1/pods", 503, {}},
      {"/api/v1/pods?fieldSelector=spec.nodeName%3Dother", 503, {}},
      {"/api/v1/nodes", 503, {}},
      {"/api/v1/namespaces/default/secrets", 503, {}},
  };
  Stage stage;
  stage.play(100, [](const Exchange&, const http::Response&) {});
  stage.cut();
  for (const Row& row : rows) {
    http::Request list{.target = std::string(row.target)};
    list.headers = recording().front().request.headers;
    const http::Response response = stage.ask(list);
    EXPECT_EQ(response.status, row.status) << row.target << ": " << response.body;
    if (response.status != 200) continue;
    EXPECT_EQ(names_in(response.body), row.names) << row.target;
  }
}

INSTANTIATE_TEST_SUITE_P(Replay, Cut, testing::Range(0, groups));

}  // namespace
}  // namespace holdfast::agent::replay
