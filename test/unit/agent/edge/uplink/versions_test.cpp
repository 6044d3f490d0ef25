// Which state the agent answers with: every combination of parameters as a kube-apiserver 1.36
// answers it, in front of the lab's API server and without it.

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "agent/edge/admin/endpoints.h"
#include "agent/edge/edge.h"
#include "platform/http/client.h"
#include "platform/http/server.h"
#include "platform/loop/tasks.h"
#include "platform/text.h"
#include "sync/wire/read.h"
#include "test/support/scratch_dir.h"
#include "test/support/version_rows.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/edge/filters/lab_server.h"

namespace holdfast::agent {
namespace {

namespace json = boost::json;
using sync::autonomy::LinkState;
using test::KnownVersions;
using test::VersionRow;

const std::string maps = "/api/v1/namespaces/versions/configmaps";

struct Told {
  http::Response response;
  std::vector<std::string> lines;  // of a watch, until it ended
  Duration took{};
};

// A watch on which nothing arrives.
class HangingWatch final : public http::BodyStream {
 public:
  explicit HangingWatch(asio::any_io_executor executor) : cancelled_(std::move(executor)) {}

  asio::awaitable<Result<std::string>> next() override {
    while (!is_cancelled_) co_await cancelled_.wait();
    co_return fail(Errc::cancelled, "cancelled");
  }
  void cancel() override {
    is_cancelled_ = true;
    cancelled_.notify_all();
  }

 private:
  loop::Event cancelled_;
  bool is_cancelled_ = false;
};

class VersionsTest : public ::testing::Test {
 protected:
  VersionsTest() {
    tasks_.spawn("lab", lab_.run());
    http_.listen(net::Listener::open(time_.executor(), at_, nullptr).value());
    create("/api/v1/nodes", "edge1");
    create("/api/v1/namespaces", "versions");
    for (int number = 1; number <= 8; ++number) {
      versions_.current = create(maps, "m" + std::to_string(number));
      if (number == 3) versions_.old = versions_.current;
    }
    start();
    // The kubelet's list opens the scope.
    EXPECT_EQ(ask(maps + "?resourceVersion=0").response.status, 200);
    versions_.current = listed_version();
    versions_.ahead = std::to_string(std::stoll(versions_.current) + 1'000'000);
  }

  ~VersionsTest() override {
    local_.reset();
    time_.complete(edge_->stop(time_.clock().mono() + 5s));
    edge_.reset();
    lab_.stop();
    time_.complete(http_.stop(time_.clock().mono() + 1s));
    tasks_.cancel();
    time_.settle();
  }

  void start() {
    const auto file = scratch_.path() / "kubeconfig";
    std::ofstream(file) << "current-context: c\n"
                        << "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                        << "clusters: [{name: c, cluster: {server: \"http://" << at_.text()
                        << "\"}}]\nusers: [{name: u, user: {}}]\n";
    options_.node_name = "edge1";
    options_.kubelet_grace = 0s;  // there is no kubelet
    options_.identity.kubeconfig = file.string();
    options_.identity.secure_listen = "";
    options_.data_dir = (scratch_.path() / "data").string();
    options_.listen = "127.0.0.1:0";
    options_.admin_listen = "127.0.0.1:0";
    options_.cache_agents = {"kubelet"};
    options_.allowed_uids = {std::to_string(::getuid())};
    edge_ = Edge::make(time_.executor(), options_, time_.clock()).value();
    EXPECT_TRUE(edge_->start());
    local_ = std::make_unique<http::Client>(
        http::Endpoint{read_endpoints(options_.data_dir).value().proxy});
    EXPECT_TRUE(until(LinkState::connected));
  }

  // The API server: the lab's, whose watches may hang.
  asio::awaitable<http::Response> serve(const http::Request& request) {
    const bool is_watch = request.target.find("watch=true") != std::string::npos;
    const bool is_list = request.target.starts_with(maps + "?") && !is_watch;
    if (is_list) ++lists_;
    http::Response response = co_await lab_.handler()(request);
    if (is_watch && watches_hang_) {
      response.stream = std::make_shared<HangingWatch>(time_.executor());
    }
    co_return response;
  }

  bool until(LinkState state) {
    return time_.run_until(2min, [&] { return edge_->uplink().link().state() == state; });
  }

  void cut() {
    time_.network().refuse(at_, true);
    time_.network().reset_connections(at_);
    EXPECT_TRUE(until(LinkState::offline));
  }

  // Creates an object directly in the cloud. Returns its resourceVersion.
  std::string create(const std::string& collection, const std::string& name) {
    http::Request request{.method = http::Method::post,
                          .target = collection,
                          .headers = {{"Content-Type", "application/json"}},
                          .body = R"({"metadata":{"name":")" + name + "\"}}"};
    Told told;
    time_.complete(asking(cloud_, std::move(request), told));
    EXPECT_EQ(told.response.status, 201) << told.response.body;
    return std::string(sync::wire::version_of(json::parse(told.response.body).as_object()));
  }

  // Asks the agent as the kubelet does.
  Told ask(const std::string& target) {
    Told told;
    http::Request request{.target = target, .headers = {{"User-Agent", "kubelet/v1"}}};
    time_.complete(asking(*local_, std::move(request), told));
    return told;
  }

  asio::awaitable<void> asking(http::Client& client, http::Request request, Told& told) {
    const MonoTime began = time_.clock().mono();
    auto answer = co_await client.open(std::move(request), began + 30s);
    told.took = time_.clock().mono() - began;
    if (!answer) co_return;
    told.response = *std::move(answer);
    std::string body;
    while (told.response.stream) {
      const auto piece = co_await told.response.stream->next();
      if (!piece || piece->empty()) break;
      body += *piece;
    }
    told.response.stream.reset();
    if (told.response.body.empty()) told.response.body = body;
    for (const std::string_view line : split(body, '\n')) {
      if (!line.empty()) told.lines.emplace_back(line);
    }
  }

  std::string listed_version() {
    const json::value list = json::parse(ask(maps + "?resourceVersion=0").response.body);
    return std::string(sync::wire::dig_text(list.as_object(), {"metadata", "resourceVersion"}));
  }

  std::string described(const VersionRow& row) {
    const Told told = ask(row.target(maps, "m1", versions_));
    return describe_answer(row, told.response, told.lines, told.took, versions_);
  }

  test::ScratchDir scratch_;
  test::VirtualTime time_;
  net::HostPort at_{"10.0.0.1", 6443};
  test::LabServer lab_{time_.executor(), time_.clock(), scratch_.path() / "server"};
  loop::Tasks tasks_{time_.executor()};
  bool watches_hang_ = false;
  int lists_ = 0;  // of the ConfigMaps
  http::Server http_{time_.executor(), {}, [this](const auto& request) { return serve(request); }};
  http::Client cloud_{http::Endpoint{at_}};
  EdgeOptions options_;
  std::unique_ptr<Edge> edge_;
  std::unique_ptr<http::Client> local_;
  KnownVersions versions_;
};

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
    differ += other == others.end() ? 0 : 1;
  }
  EXPECT_EQ(differ, others.size());
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
  Told written;
  time_.complete(asking(*local_, std::move(write), written));
  ASSERT_EQ(written.response.status, 200) << written.response.body;
  const json::value object = json::parse(written.response.body);
  const std::string local(sync::wire::version_of(object.as_object()));
  const std::pair<std::string, int> rows[] = {
      {"0", 200},           {local, 200},           {local + "&resourceVersionMatch=Exact", 200},
      {versions_.old, 200}, {versions_.ahead, 504}, {versions_.old + "&limit=1", 410}};
  for (const auto& [asked, status] : rows) {
    EXPECT_EQ(ask(node + "&resourceVersion=" + asked).response.status, status) << asked;
  }
}

const std::string watch_list =
    maps +
    "?watch=true&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true"
    "&resourceVersionMatch=NotOlderThan";

class HangingWatches : public VersionsTest {
 protected:
  // The scope is watched anew, and learns nothing from then on.
  HangingWatches() {
    watches_hang_ = true;
    cut();
    time_.network().refuse(at_, false);
    EXPECT_TRUE(until(LinkState::connected));
    time_.run(1s);
  }

  // The number of objects, and the version at the end of the initial events.
  static std::string shown(const Told& told) {
    std::size_t added = 0;
    std::string end;
    for (const std::string& line : told.lines) {
      const json::object event = json::parse(line).as_object();
      const std::string_view type = sync::wire::dig_text(event, {"type"});
      added += type == "ADDED" ? 1 : 0;
      if (type != "BOOKMARK") continue;
      end = sync::wire::dig_text(event, {"object", "metadata", "resourceVersion"});
    }
    return std::to_string(told.response.status) + " " + std::to_string(added) + " until " + end;
  }
};

TEST_F(HangingWatches, AWatchThatAsksForTheNewestGetsIt) {
  const std::string ninth = create(maps, "m9");
  EXPECT_EQ(described({.verb = "watch", .version = "0"}), "200 ADDED 8") << "any state will do";
  EXPECT_EQ(shown(ask(watch_list)), "200 9 until " + ninth);
  (void)create(maps, "m10");
  EXPECT_EQ(described({.verb = "watch", .version = "none"}), "200 ADDED 10");
  const std::string eleventh = create(maps, "m11");
  EXPECT_EQ(shown(ask(watch_list + "&resourceVersion=" + eleventh)), "200 11 until " + eleventh);
  const std::string twelfth = create(maps, "m12");
  const Told list = ask(maps + "?resourceVersion=" + twelfth);
  EXPECT_EQ(json::parse(list.response.body).as_object().at("items").as_array().size(), 12u);
  cut();
  EXPECT_EQ(described({.verb = "watch", .version = "none"}), "200 ADDED 11") << "what it knows";
}

TEST_F(HangingWatches, WatchesThatAskForTheNewestTogetherShareAList) {
  const std::string ninth = create(maps, "m9");
  const int before = lists_;
  std::vector<Told> all(5);
  for (Told& told : all) {
    http::Request request{.target = watch_list, .headers = {{"User-Agent", "kubelet/v1"}}};
    tasks_.spawn("watch", asking(*local_, std::move(request), told));
  }
  time_.run(5s);
  for (const Told& told : all) EXPECT_EQ(shown(told), "200 9 until " + ninth);
  EXPECT_EQ(lists_ - before, 1);
}

TEST_F(HangingWatches, WithoutAnAnswerOfTheCloudTheyGetWhatIsKnown) {
  const std::string known = listed_version();
  (void)create(maps, "m9");
  time_.network().set_link(at_, {.is_silent = true});
  EXPECT_EQ(shown(ask(watch_list)), "200 8 until " + known);
}

}  // namespace
}  // namespace holdfast::agent
