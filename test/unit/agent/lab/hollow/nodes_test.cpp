// Hollow nodes whose Node exists already.

#include "agent/lab/hollow/nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "platform/http/server.h"
#include "sync/wire/status.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::hollow {
namespace {

using namespace std::chrono_literals;

// One hollow node "edge-0" and a server that has a Node and a Lease of this name.
class ExistingNode {
 public:
  explicit ExistingNode(const std::string& labels) : labels_(labels) {
    auto listener = net::Listener::open(time.executor(), {"127.0.0.1", 0}, nullptr).value();
    ClusterAccess access;
    access.server = {"127.0.0.1", listener->port()};
    server_.listen(std::move(listener));
    client_ = ApiClient::make(std::move(access), time.clock(), "test").value();
    Plan plan;
    plan.nodes = {"edge-0"};
    nodes_.emplace(time.executor(), std::move(plan), *client_, 100, time.clock());
    nodes_->start();
  }
  ~ExistingNode() {
    nodes_->cancel();
    time.complete(nodes_->join());
    nodes_.reset();
    client_.reset();
    time.complete(server_.stop(time.clock().mono()));
  }
  ExistingNode(const ExistingNode&) = delete;
  ExistingNode& operator=(const ExistingNode&) = delete;

  Status join() {
    Status joined;
    time.complete(join_into(joined));
    return joined;
  }
  [[nodiscard]] int count(const std::string& what) const {
    return static_cast<int>(std::count(written.begin(), written.end(), what));
  }

  test::VirtualTime time;
  std::vector<std::string> written;  // requests other than GET: "POST /api/v1/nodes"

 private:
  asio::awaitable<void> join_into(Status& joined) {
    joined = co_await nodes_->joined(time.clock().mono() + 1min);
  }

  asio::awaitable<http::Response> answer(const http::Request& request) {
    const std::string path(request.path());
    if (request.method != http::Method::get) {
      written.push_back(std::string(http::to_string(request.method)) + " " + path);
    }
    http::Response response{.status = 200, .headers = {{"Content-Type", "application/json"}}};
    if (path == "/api/v1/pods") {
      response.status = 403;
    } else if (request.method == http::Method::post) {
      response.status = 409;
    }
    if (response.status != 200) {
      response.body = sync::wire::status::generic(response.status).body();
    } else {
      response.body = R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"edge-0","uid":"u",)"
                      R"("resourceVersion":"7","labels":{)" +
                      labels_ + "}}}";
    }
    co_return response;
  }

  std::string labels_;
  http::Server server_{
      time.executor(), {}, [this](const http::Request& request) { return answer(request); }};
  std::unique_ptr<ApiClient> client_;
  std::optional<HollowNodes> nodes_;
};

constexpr const char* renewal_of_edge_0 =
    "PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/edge-0";

TEST(HollowNodesTest, ANodeWithoutTheLabelIsNeverTouched) {
  ExistingNode it(R"("kubernetes.io/os":"linux")");
  const Status joined = it.join();
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().what,
            "register edge-0: there is a node of this name without the label "
            "holdfast.dev/hollow: set another --name-prefix");
  it.time.run(11min);
  EXPECT_EQ(it.written, std::vector<std::string>{"POST /api/v1/nodes"});
}

TEST(HollowNodesTest, ANewProcessContinuesWithTheNodesOfAnother) {
  ExistingNode it(R"("holdfast.dev/hollow":"true")");
  const Status joined = it.join();
  ASSERT_TRUE(joined) << joined.error().what;
  it.time.run(11min);
  EXPECT_EQ(it.count("POST /api/v1/nodes"), 1) << "it asks whether the node exists";
  EXPECT_GE(it.count(renewal_of_edge_0), 60);
  EXPECT_GE(it.count("PATCH /api/v1/nodes/edge-0/status"), 2);
  EXPECT_EQ(it.count("DELETE /api/v1/nodes/edge-0"), 0);
}

}  // namespace
}  // namespace holdfast::agent::hollow
