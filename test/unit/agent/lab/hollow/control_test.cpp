#include "agent/lab/hollow/control.h"

#include "sync/wire/json.h"
#include "test/support/run.h"

namespace holdfast::agent::hollow {
namespace {

namespace json = sync::json;

http::Request list_nodes() { return {.target = "/v1/nodes"}; }

class HollowControlTest : public ::testing::Test {
 protected:
  HollowControlTest() {
    Plan plan;
    plan.nodes = {"edge-0", "edge-1", "edge-2"};
    plan.zones = {"east", "west"};
    nodes_.emplace(time_.executor(), std::move(plan), *client_, 100, time_.clock());
    server_.emplace(time_.executor(), *nodes_, time_.clock());
  }

  static std::unique_ptr<ApiClient> make_client(const Clock& clock) {
    ClusterAccess access;
    access.server = {"127.0.0.1", 1};
    return ApiClient::make(std::move(access), clock, "test").value();
  }

  http::Response post(const std::string& path, std::string body) {
    http::Request request = list_nodes();
    request.method = http::Method::post;
    request.target = path;
    request.body = std::move(body);
    return server_->answer(request);
  }

  // The names of the silent nodes.
  std::vector<std::string> silent() {
    const auto list = sync::wire::parse_json(server_->answer(list_nodes()).body);
    std::vector<std::string> names;
    for (const json::value& node : list->at("nodes").as_array()) {
      if (node.get_object().contains("silent")) names.emplace_back(node.at("name").get_string());
    }
    return names;
  }

  test::VirtualTime time_;
  std::unique_ptr<ApiClient> client_ = make_client(time_.clock());
  std::optional<HollowNodes> nodes_;
  std::optional<ControlServer> server_;
};

using Names = std::vector<std::string>;

TEST_F(HollowControlTest, SilencesByNameAndBySelector) {
  EXPECT_EQ(silent(), Names());
  EXPECT_EQ(post("/v1/silence", R"({"names":["edge-1"]})").status, 200);
  EXPECT_EQ(silent(), Names{"edge-1"});
  const auto answer = post("/v1/silence", R"({"selector":"topology.kubernetes.io/zone=east"})");
  EXPECT_EQ(answer.body, "{\"matched\":2,\"changed\":2}\n");
  EXPECT_EQ(silent(), (Names{"edge-0", "edge-1", "edge-2"}));
  EXPECT_EQ(post("/v1/resume", R"({"names":["edge-0","edge-1"]})").status, 200);
  EXPECT_EQ(silent(), Names{"edge-2"});
}

TEST_F(HollowControlTest, AMistakeChangesNothingAndIsNamed) {
  const struct {
    const char* body;
    int status;
    const char* named;
  } rows[] = {{R"({"names":["edge-0","edge-9"]})", 404, "edge-9"},
              {R"({"selector":"zone=mars"})", 404, "zone=mars"},
              {R"({"selector":"=="})", 400, "=="},
              {R"({"name":["edge-0"]})", 400, "name"},
              {R"({"names":[1]})", 400, "names"},
              {"[]", 400, "object"},
              {"{}", 400, "selector"},
              {"{", 400, "JSON"}};
  for (const auto& row : rows) {
    const auto answer = post("/v1/silence", row.body);
    EXPECT_EQ(answer.status, row.status) << row.body;
    EXPECT_NE(answer.body.find(row.named), std::string::npos) << answer.body;
  }
  EXPECT_EQ(silent(), Names());
}

TEST_F(HollowControlTest, OnlyItsOwnPagesAndMethodsAreServed) {
  EXPECT_EQ(post("/v1/nodes", "{}").status, 405);
  EXPECT_EQ(post("/", "{}").status, 404);
  http::Request request = list_nodes();
  request.target = "/v1/silence";
  EXPECT_EQ(server_->answer(request).status, 405);
}

TEST_F(HollowControlTest, ListensOnLoopbackOnly) {
  for (const char* address : {"0.0.0.0:0", "10.0.0.1:0"}) {
    const Status listening = server_->listen(address);
    ASSERT_FALSE(listening);
    EXPECT_NE(listening.error().what.find("--control"), std::string::npos);
  }
}

}  // namespace
}  // namespace holdfast::agent::hollow
