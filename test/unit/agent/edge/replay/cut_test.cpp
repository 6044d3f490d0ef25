// The uplink is cut at one of fifty points of the session, and the kubelet restarts without it. It
// gets answers for everything that was known, in any order, and no list that had objects is empty.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "sync/objects/version.h"
#include "sync/wire/protobuf/decode.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/frames.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/protobuf/list.h"
#include "test/unit/agent/edge/replay/replay_fixture.h"

namespace holdfast::agent::replay {
namespace {

constexpr int points = 50;
constexpr int groups = 10;  // the points are divided among tests that run in parallel
constexpr const char* nodes_scope = "/api/v1/nodes metadata.name=edge1";

// What the cache had received when the uplink was cut.
struct Known {
  Known(const ReplayFixture& fixture, int last) {
    const FakeUpstream::Objects* nodes = fixture.upstream.objects(nodes_scope);
    node = nodes != nullptr && !nodes->empty();
    for (const Exchange& exchange : fixture.recording.exchanges) {
      if (exchange.line > last) break;
      const bool well = exchange.status < 300;
      if (exchange.is_token()) tokens.push_back(exchange.request.body);
      const bool of_node = exchange.request.path().starts_with("/api/v1/nodes/") ||
                           (exchange.request.path() == "/api/v1/nodes" &&
                            exchange.request.method == http::Method::post);
      node = node || (well && of_node);
      csi_node = csi_node || (well && exchange.request.path().ends_with("/csinodes"));
      csi_node = csi_node || (well && exchange.request.path().ends_with("/csinodes/edge1"));
      if (exchange.is_list() || exchange.is_watch_list()) {
        lists.push_back(scope_of(exchange.request));
      }
      const bool read = exchange.request.method == http::Method::get;
      if (read && well) objects.emplace_back(exchange.request.path());
    }
  }
  [[nodiscard]] bool list(const std::string& scope) const {
    return std::find(lists.begin(), lists.end(), scope) != lists.end();
  }
  [[nodiscard]] bool token(const std::string& request) const {
    return std::find(tokens.begin(), tokens.end(), request) != tokens.end();
  }
  [[nodiscard]] bool object(std::string_view path) const {
    return std::find(objects.begin(), objects.end(), path) != objects.end();
  }

  bool node = false;
  bool csi_node = false;
  std::vector<std::string> lists;
  std::vector<std::string> objects;  // their paths
  std::vector<std::string> tokens;   // the requests for them
};

// The kubelet's requests between its second and third start, in a random order.
std::vector<Exchange> restart_sequence(const Recording& recording, int seed) {
  std::vector<Exchange> sequence;
  for (const Exchange& exchange : recording.exchanges) {
    const bool in_it =
        exchange.line >= recording.second_start && exchange.line < recording.third_start;
    if (in_it) sequence.push_back(exchange);
  }
  std::shuffle(sequence.begin(), sequence.end(), std::mt19937(static_cast<unsigned>(seed)));
  return sequence;
}

// Whether the path ends with one object of the resource, not with its collection.
bool is_object_of(std::string_view path, std::string_view resource) {
  const auto at = path.find(resource);
  return at != std::string_view::npos && at + resource.size() < path.size();
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  const sync::wire::ListBytes listed = sync::wire::split_protobuf_list(list).value();
  for (const std::string_view item : listed.items) {
    const std::string object = sync::wire::enveloped("v1", "Any", item);
    names.push_back(sync::wire::read_protobuf_header(object).value().name);
  }
  return names;
}

// The names that the upstream had when the link was cut.
std::vector<std::string> names_there(const ReplayFixture& fixture, const Exchange& exchange) {
  std::vector<std::string> names;
  const FakeUpstream::Objects* objects = fixture.upstream.objects(scope_of(exchange.request));
  EXPECT_NE(objects, nullptr) << exchange.name();
  if (objects == nullptr) return names;
  for (const auto& [name, bytes] : *objects) names.push_back(name);
  return names;
}

void check_list(const ReplayFixture& fixture, const Exchange& exchange,
                const http::Response& response, bool known) {
  if (!known) {
    EXPECT_EQ(response.status, 503) << exchange.name();
    EXPECT_EQ(response.headers.get("retry-after"), "") << exchange.name();
    return;
  }
  ASSERT_EQ(response.status, 200) << exchange.name() << ": " << response.body;
  const sync::wire::ListBytes list = sync::wire::split_protobuf_list(response.body).value();
  EXPECT_NE(list.head.resource_version, "") << exchange.name();
  EXPECT_EQ(names_in(response.body), names_there(fixture, exchange)) << exchange.name();
}

asio::awaitable<void> read_piece(http::BodyStream& stream, std::string& piece) {
  piece = (co_await stream.next()).value_or("");
}

// Checks that such a watch first brings all objects and then a bookmark, at once.
void check_watch_list(ReplayFixture& fixture, const Exchange& exchange,
                      const http::Response& response, bool known) {
  EXPECT_EQ(response.status, known ? 200 : 503) << exchange.name() << ": " << response.body;
  if (!known || !response.stream) return;
  std::string piece;
  fixture.time.complete(read_piece(*response.stream, piece));
  std::vector<std::string> names;
  sync::wire::ProtobufFrames splitter;
  const std::vector<std::string> frames = splitter.feed(piece).value();
  ASSERT_FALSE(frames.empty()) << exchange.name();
  for (const std::string& frame : frames) {
    const sync::wire::WatchEvent event = sync::wire::decode_protobuf_event(frame).value();
    const bool last = &frame == &frames.back();
    EXPECT_EQ(event.type == sync::wire::WatchEvent::Type::bookmark, last) << exchange.name();
    if (!last) names.push_back(sync::wire::read_protobuf_header(event.object).value().name);
  }
  EXPECT_EQ(names, names_there(fixture, exchange)) << exchange.name();
}

// Checks the status for a known thing, and for an unknown one.
void check_status(const Exchange& exchange, const http::Response& response, bool known,
                  int status) {
  EXPECT_EQ(response.status, known ? status : 503) << exchange.name() << ": " << response.body;
}

void check(ReplayFixture& fixture, const Known& known, const Exchange& exchange,
           const http::Response& response) {
  const std::string_view path = exchange.request.path();
  const bool read = exchange.request.method == http::Method::get;
  if (exchange.is_lease() || path.ends_with("/events")) {
    EXPECT_TRUE(response.status == 200 || response.status == 201) << exchange.name();
  } else if (exchange.is_list()) {
    check_list(fixture, exchange, response, known.list(scope_of(exchange.request)));
  } else if (exchange.is_watch_list()) {
    check_watch_list(fixture, exchange, response, known.list(scope_of(exchange.request)));
  } else if (exchange.is_watch) {
    check_status(exchange, response, known.list(scope_of(exchange.request)), 200);
  } else if (exchange.is_token()) {
    check_status(exchange, response, known.token(exchange.request.body), 201);
  } else if (path.find("/csinodes/") != std::string_view::npos) {
    // Before the CSINode was created, the server answered 404; the agent does the same once it
    // knows all CSINodes.
    if (known.csi_node) check_status(exchange, response, true, 200);
    EXPECT_NE(response.status, 0) << exchange.name();
  } else if (is_object_of(path, "/pods/") || is_object_of(path, "/persistentvolumeclaims/") ||
             is_object_of(path, "/persistentvolumes/")) {
    if (known.object(path)) check_status(exchange, response, true, 200);
    EXPECT_NE(response.status, 404) << exchange.name() << ": the kubelet takes that for a deletion";
  } else if (path == "/api/v1/nodes") {
    check_status(exchange, response, known.node, 409);
  } else if (path.starts_with("/api/v1/nodes/") && known.node) {
    check_status(exchange, response, true, 200);
  } else {
    EXPECT_TRUE(!read || path.starts_with("/api/v1/nodes/")) << "not checked: " << exchange.name();
  }
}

bool goes_on(const Exchange& exchange) { return exchange.is_watch && !exchange.is_watch_list(); }

// The watch request, starting at the version of the kubelet's own list.
http::Request watch_request(ReplayFixture& fixture, const Exchange& watch) {
  http::Request list = watch.request;
  auto query = Query::parse(watch.request.query()).value();
  query.remove("watch");
  query.set("resourceVersion", "0");
  list.target = std::string(list.path()) + "?" + query.encode();
  const http::Response answer = fixture.ask(list);
  if (answer.status != 200) return watch.request;
  const sync::wire::ListBytes listed = sync::wire::split_protobuf_list(answer.body).value();
  query.set("watch", "true");
  query.set("resourceVersion", listed.head.resource_version);
  http::Request request = watch.request;
  request.target = std::string(list.path()) + "?" + query.encode();
  return request;
}

class Cut : public testing::TestWithParam<std::tuple<Session, int>> {};

TEST_P(Cut, ARestartedKubeletIsAnsweredFromWhatWasKnown) {
  const auto& [session, group] = GetParam();
  for (int point = group; point < points; point += groups) {
    ReplayFixture fixture(session);
    const int last = fixture.recording.exchanges.back().line * (point + 1) / points;
    SCOPED_TRACE("cut after line " + std::to_string(last));
    fixture.play(last, [](const Exchange&, const http::Response&) {});
    fixture.cut();
    if (point % 2 == 1) fixture.restart_agent();
    const Known known(fixture, last);
    for (const Exchange& exchange : restart_sequence(fixture.recording, point)) {
      const http::Response response =
          fixture.ask(goes_on(exchange) ? watch_request(fixture, exchange) : exchange.request);
      check(fixture, known, exchange, response);
      if (response.stream) response.stream->cancel();
    }
  }
}

class Offline : public testing::TestWithParam<Session> {
 protected:
  ReplayFixture fixture{GetParam()};
};

TEST_P(Offline, AStatusPatchChangesTheProtobufThatIsCached) {
  fixture.play(fixture.recording.first_renewal().line,
               [](const Exchange&, const http::Response&) {});
  fixture.cut();
  http::Request get{.target = "/api/v1/nodes/edge1"};
  get.headers = fixture.recording.exchanges.front().request.headers;
  const std::string before = fixture.ask(get).body;

  http::Request patch = get;
  patch.method = http::Method::patch;
  patch.target = "/api/v1/nodes/edge1/status?timeout=10s";
  patch.headers.set("Content-Type", "application/strategic-merge-patch+json");
  patch.body = R"({"status":{"conditions":[{"type":"Ready","status":"False","reason":"x"}]}})";
  const http::Response answer = fixture.ask(patch);
  EXPECT_EQ(answer.status, 200) << answer.body;
  fixture.time.settle();

  const std::string after = fixture.ask(get).body;
  EXPECT_EQ(answer.body, after) << "the answer equals the cached object";
  const sync::Node was = sync::wire::decode_protobuf<sync::Node>(before).value();
  const sync::Node is = sync::wire::decode_protobuf<sync::Node>(after).value();
  ASSERT_EQ(is.status.conditions.size(), was.status.conditions.size());
  for (const sync::NodeCondition& condition : is.status.conditions) {
    EXPECT_EQ(condition.reason == "x", condition.type == "Ready");
  }
  EXPECT_GT(std::stoull(is.metadata.resource_version), sync::objects::first_local_version - 1);
  EXPECT_EQ(is.spec, was.spec);
  const auto nodes = std::ranges::find_if(fixture.watches, [](const auto& watch) {
    return watch->exchange->request.path() == "/api/v1/nodes";
  });
  ASSERT_NE(nodes, fixture.watches.end());
  ASSERT_FALSE((*nodes)->events.empty());
  EXPECT_EQ((*nodes)->events.back(),
            sync::wire::encode_protobuf_event(sync::wire::WatchEvent::Type::modified, after));
}

TEST_P(Offline, ANarrowerQuestionIsAnsweredFromAWiderAnswer) {
  struct Row {
    std::string target;
    int status;
    std::vector<std::string> names;
  };
  // A kubelet 1.36 lists only the Services that have a cluster IP.
  const bool some = GetParam() != Session::v1_20;
  const std::string services =
      std::string("/api/v1/services?") + (some ? "fieldSelector=spec.clusterIP%21%3DNone" : "");
  const std::string and_field = some ? "%2C" : "fieldSelector=";
  const Row rows[] = {
      {"/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName%3Dedge1",
       200,
       {"hostnet", "web"}},
      {"/api/v1/namespaces/other/pods?fieldSelector=spec.nodeName%3Dedge1", 200, {}},
      {services + "&labelSelector=component%3Dapiserver", 200, {"kubernetes"}},
      {services + "&labelSelector=component%21%3Dapiserver", 200, {}},
      {services + and_field + "metadata.name%3Dkubernetes", 200, {"kubernetes"}},
      {"/api/v1/namespaces/default/services", some ? 503 : 200, {"kubernetes"}},
      {"/api/v1/services?fieldSelector=spec.foo%3Dbar", 503, {}},
      {"/api/v1/pods", 503, {}},
      {"/api/v1/pods?fieldSelector=spec.nodeName%3Dother", 503, {}},
      {"/api/v1/nodes", 503, {}},
      {"/api/v1/namespaces/default/secrets", 503, {}},
  };
  fixture.play(fixture.recording.second_start - 1, [](const Exchange&, const http::Response&) {});
  fixture.cut();
  for (const Row& row : rows) {
    http::Request list{.target = row.target};
    list.headers = fixture.recording.exchanges.front().request.headers;
    const http::Response response = fixture.ask(list);
    EXPECT_EQ(response.status, row.status) << row.target << ": " << response.body;
    if (response.status != 200) continue;
    EXPECT_EQ(names_in(response.body), row.names) << row.target;
  }
}

INSTANTIATE_TEST_SUITE_P(Sessions, Cut,
                         testing::Combine(testing::ValuesIn(sessions), testing::Range(0, groups)),
                         [](const auto& test) {
                           return to_string(std::get<0>(test.param)) + "_" +
                                  std::to_string(std::get<1>(test.param));
                         });
INSTANTIATE_TEST_SUITE_P(Sessions, Offline, testing::ValuesIn(sessions),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace holdfast::agent::replay
