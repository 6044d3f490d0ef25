// Hollow nodes whose Node exists already.

#include "agent/lab/hollow/nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <memory>
#include <optional>

#include "platform/http/server.h"
#include "sync/wire/status.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::hollow {
namespace {

using namespace std::chrono_literals;

// The hollow nodes "edge-0" and so on, and a server that has a Node and a Lease for each of them.
class ExistingNode {
 public:
  explicit ExistingNode(std::string its_labels, int count = 1, double qps = 100)
      : labels(std::move(its_labels)) {
    auto listener = net::Listener::open(time.executor(), {"127.0.0.1", 0}, nullptr).value();
    ClusterAccess access;
    access.server = {"127.0.0.1", listener->port()};
    server_.listen(std::move(listener));
    client_ = ApiClient::make(std::move(access), time.clock(), "test").value();
    Plan plan;
    for (int node = 0; node < count; ++node) plan.nodes.push_back("edge-" + std::to_string(node));
    nodes_.emplace(time.executor(), std::move(plan), *client_, qps, time.clock());
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
  std::string labels;                // of the Node
  std::string uid = "u";             // of the Node
  std::vector<std::string> written;  // requests other than GET: "POST /api/v1/nodes"
  std::string lease_owner;           // the uid in the last renewal
  std::vector<MonoTime> asked;       // when requests arrived

 private:
  asio::awaitable<void> join_into(Status& joined) {
    joined = co_await nodes_->joined(time.clock().mono() + 1min);
  }

  asio::awaitable<http::Response> answer(const http::Request& request) {
    const std::string path(request.path());
    asked.push_back(time.clock().mono());
    if (request.method == http::Method::put) {
      const boost::json::value lease = boost::json::parse(request.body);
      lease_owner = lease.at_pointer("/metadata/ownerReferences/0/uid").as_string();
    }
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
      response.body = R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"edge-0","uid":")" +
                      uid + R"(","resourceVersion":"7","labels":{)" + labels + "}}}";
    }
    co_return response;
  }

  http::Server server_{
      time.executor(), {}, [this](const http::Request& request) { return answer(request); }};
  std::unique_ptr<ApiClient> client_;
  std::optional<HollowNodes> nodes_;
};

constexpr const char* status_of_edge_0 = "PATCH /api/v1/nodes/edge-0/status";
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

TEST(HollowNodesTest, ANodeMadeAnewIsNoticedAtItsNextStatus) {
  ExistingNode it(R"("holdfast.dev/hollow":"true")");
  ASSERT_TRUE(it.join());
  it.time.run(30s);
  EXPECT_EQ(it.lease_owner, "u");
  it.uid = "v";
  it.written.clear();
  const auto is_posted = [&it] { return it.count(status_of_edge_0) == 1; };
  ASSERT_TRUE(it.time.run_until(5min, is_posted));
  EXPECT_EQ(it.lease_owner, "u") << "until then it is not noticed";
  it.time.run(11s);
  EXPECT_EQ(it.lease_owner, "v");
}

TEST(HollowNodesTest, ANodeMadeAnewWithoutTheLabelIsLeftAloneFromItsNextStatusOn) {
  ExistingNode it(R"("holdfast.dev/hollow":"true")");
  ASSERT_TRUE(it.join());
  it.time.run(30s);
  it.uid = "v";
  it.labels = "";
  it.written.clear();
  it.time.run(5min);
  EXPECT_EQ(it.count(status_of_edge_0), 0);
  it.written.clear();
  it.time.run(11min);
  EXPECT_EQ(it.written, std::vector<std::string>());
}

// A second has one request more than --qps, because one may be sent at once after an idle time.
TEST(HollowNodesTest, AtMostTheLimitOfRequestsIsSentInEachSecond) {
  constexpr std::size_t limit = 20;
  ExistingNode it(R"("holdfast.dev/hollow":"true")", 100, static_cast<double>(limit));
  it.time.run(1min);
  const std::vector<MonoTime>& asked = it.asked;
  ASSERT_GE(asked.size(), limit * 30) << "100 nodes need more than the limit at the beginning";
  for (std::size_t last = limit + 1; last < asked.size(); ++last) {
    EXPECT_GE(asked[last] - asked[last - limit - 1], 1s) << last;
  }
}

}  // namespace
}  // namespace holdfast::agent::hollow
