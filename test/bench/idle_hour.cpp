// Measures an idle hour of a node in virtual time, with a real agent and the lab's API server, over
// HTTP/2 and TLS as with any other one: its kubelet watches pods, its node and services, renews its
// lease every 10 s and reports an unchanged status every 5 minutes.

#include <boost/json.hpp>
#include <cstdlib>

#include "agent/edge/admin/endpoints.h"
#include "agent/edge/edge.h"
#include "agent/lab/apiserver/apiserver.h"
#include "platform/check.h"
#include "platform/http/client.h"
#include "platform/http/server.h"
#include "platform/text.h"
#include "test/bench/edge_bench.h"
#include "test/bench/table.h"
#include "test/support/certificates.h"
#include "test/support/edge_options.h"
#include "test/support/fault_vfs.h"
#include "test/support/kubeconfig.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::bench {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;

const std::string node_name = "bench";

class IdleNode {
 public:
  IdleNode();
  ~IdleNode();

  void run_an_hour();

  struct Spent {
    std::uint64_t uplink = 0;  // bytes of HTTP messages, both directions, as --uplink-budget counts
    std::uint64_t on_wire = 0;  // the same with HTTP/2's frames and compressed headers
    std::uint64_t flash = 0;    // bytes of database pages
    std::int64_t syncs = 0;     // fsyncs of the agent's databases
  };
  // As the agent's metrics report them.
  [[nodiscard]] Spent spent();

 private:
  void fill_server();
  int ask(const http::Handler& handler, http::Request request);
  int ask_agent(http::Request request);
  void follow(const std::string& target);
  void renew_lease();
  void say_status();

  test::VirtualTime time_;
  test::ScratchDir scratch_;
  std::unique_ptr<agent::lab::ApiServer> api_;
  http::Handler serve_;
  std::unique_ptr<http::Server> server_;
  agent::EdgeOptions options_;
  std::unique_ptr<agent::Edge> edge_;
  std::unique_ptr<http::Client> kubelet_;
  std::vector<http::Response> watches_;
};

asio::awaitable<void> handle_into(http::Handler handler, http::Request request, int& status) {
  const http::Response answer = co_await handler(request);
  status = answer.status;
}

asio::awaitable<void> send_into(http::Client& client, http::Request request, MonoTime deadline,
                                http::Response& answer) {
  const bool streamed = request.query().find("watch=true") != std::string_view::npos;
  Result<http::Response> response = fail(Errc::cancelled, "");
  if (streamed) {
    response = co_await client.open(std::move(request), deadline);
  } else {
    response = co_await client.send(std::move(request), deadline);
  }
  answer.status = 0;
  if (response) answer = *std::move(response);
}

IdleNode::IdleNode() {
  test::follow({.within = "/edge/"});
  test::use_for_all(true);
  agent::lab::ApiServerOptions cloud;
  cloud.data = scratch_.path() / "cloud";
  cloud.address = "192.0.2.2:6443";
  cloud.controllers = false;
  api_ = agent::lab::ApiServer::open(time_.executor(), time_.clock(), Random(1), cloud).value();
  serve_ = api_->handler();
  // Certificates are valid now.
  time_.clock().jump_wall(SystemClock().wall() - time_.clock().wall());
  const test::Authority authority("cluster");
  const auto tls = tls::Context::for_server(
      {.identity = authority.sign({.common_name = "s", .names = {"IP:127.0.0.1"}}),
       .protocols = {"h2", "http/1.1"}});
  server_ = std::make_unique<http::Server>(time_.executor(), http::ServerLimits{}, serve_);
  auto listener = net::Listener::open(time_.executor(), {"127.0.0.1", 0}, tls.value()).value();
  const std::uint16_t port = listener->port();
  server_->listen(std::move(listener));
  fill_server();
  const std::string kubeconfig = test::write_kubeconfig(scratch_.path() / "kubeconfig",
                                                        "https://127.0.0.1:" + std::to_string(port),
                                                        "insecure-skip-tls-verify: true");
  test::set_up(options_, node_name, kubeconfig, scratch_.path() / "edge");
  options_.identity.secure_listen = "";
  edge_ = agent::Edge::make(time_.executor(), options_, time_.clock()).value();
  CHECK(edge_->start());
  kubelet_ = std::make_unique<http::Client>(http::Endpoint{{"127.0.0.1", edge_->port()}});
  time_.run(10s);  // until it is connected
  for (const char* target :
       {"/api/v1/pods?fieldSelector=spec.nodeName%3Dbench",
        "/api/v1/nodes?fieldSelector=metadata.name%3Dbench", "/api/v1/services?limit=500"}) {
    follow(target);
  }
  time_.run(1min);
}

IdleNode::~IdleNode() {
  for (const http::Response& watch : watches_) watch.stream->cancel();
  watches_.clear();
  kubelet_.reset();
  time_.complete(edge_->stop(time_.clock().mono() + 5s));
  edge_.reset();
  api_->stop();
  time_.complete(server_->stop(time_.clock().mono() + 1s));
  time_.settle();
  test::use_for_all(false);
}

void IdleNode::fill_server() {
  http::Request node{.method = http::Method::post, .target = "/api/v1/nodes"};
  node.body = json::serialize(json::object{{"metadata", json::object{{"name", node_name}}}});
  CHECK(ask(serve_, std::move(node)) == 201);
  for (int i = 0; i < 10; ++i) {
    http::Request pod{.method = http::Method::post, .target = "/api/v1/namespaces/default/pods"};
    pod.body = json::serialize(json::object{
        {"metadata", json::object{{"name", "pod-" + std::to_string(i)}}},
        {"spec",
         json::object{{"nodeName", node_name},
                      {"containers", json::array{json::object{{"name", "c"}, {"image", "i"}}}}}}});
    CHECK(ask(serve_, std::move(pod)) == 201);
  }
}

int IdleNode::ask(const http::Handler& handler, http::Request request) {
  int status = 0;
  time_.complete(handle_into(handler, std::move(request), status));
  return status;
}

int IdleNode::ask_agent(http::Request request) {
  http::Response answer;
  request.headers.set("User-Agent", "kubelet/v1.32");
  time_.complete(send_into(*kubelet_, std::move(request), time_.clock().mono() + 10s, answer));
  const int status = answer.status;
  if (answer.stream) watches_.push_back(std::move(answer));
  return status;
}

void IdleNode::follow(const std::string& target) {
  CHECK(ask_agent({.target = target + "&resourceVersion=0"}) == 200);
  CHECK(ask_agent({.target = target + "&watch=true&allowWatchBookmarks=true&timeoutSeconds=7200"
                                      "&resourceVersion=0"}) == 200);
}

void IdleNode::renew_lease() {
  const json::object lease{
      {"kind", "Lease"},
      {"apiVersion", "coordination.k8s.io/v1"},
      {"metadata", json::object{{"name", node_name}, {"namespace", "kube-node-lease"}}},
      {"spec",
       json::object{{"holderIdentity", node_name},
                    {"leaseDurationSeconds", 40},
                    {"renewTime", format_rfc3339(time_.clock().wall(), TimeDigits::micros)}}}};
  http::Request request{
      .method = http::Method::put,
      .target = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/" + node_name,
      .headers = {{"Content-Type", "application/json"}},
      .body = json::serialize(lease)};
  CHECK(ask_agent(std::move(request)) == 200);
}

void IdleNode::say_status() {
  const json::object ready{{"type", "Ready"},
                           {"status", "True"},
                           {"reason", "KubeletReady"},
                           {"lastHeartbeatTime", format_rfc3339(time_.clock().wall())}};
  const json::object patch{{"status", json::object{{"conditions", json::array{ready}}}}};
  http::Request request{.method = http::Method::patch,
                        .target = "/api/v1/nodes/" + node_name + "/status",
                        .headers = {{"Content-Type", "application/strategic-merge-patch+json"}},
                        .body = json::serialize(patch)};
  CHECK(ask_agent(std::move(request)) == 200);
}

void IdleNode::run_an_hour() {
  for (int beat = 0; beat < 360; ++beat) {
    renew_lease();
    if (beat % 30 == 0) say_status();
    time_.run(10s);
    api_->tick();
  }
}

IdleNode::Spent IdleNode::spent() {
  http::Client admin(http::Endpoint{agent::read_endpoints(options_.data_dir).value().admin});
  http::Response page;
  time_.complete(send_into(admin, {.target = "/metrics"}, time_.clock().mono() + 10s, page));
  Spent sum;
  for (const std::string_view line : split(page.body, '\n')) {
    const std::string_view value = line.substr(line.rfind(' ') + 1);
    const auto bytes = static_cast<std::uint64_t>(std::atof(std::string(value).c_str()));
    const bool uplink = line.starts_with("holdfast_edge_uplink_class_sent_bytes_total{") ||
                        line.starts_with("holdfast_edge_uplink_class_received_bytes_total{");
    const bool on_wire = line.starts_with("holdfast_edge_uplink_sent_bytes ") ||
                         line.starts_with("holdfast_edge_uplink_received_bytes ");
    if (uplink) sum.uplink += bytes;
    if (on_wire) sum.on_wire += bytes;
    if (line.starts_with("holdfast_edge_database_written_bytes_total{")) sum.flash += bytes;
  }
  CHECK(sum.uplink > 0 && sum.on_wire > 0 && sum.flash > 0);
  sum.syncs = test::fault_counts().syncs;
  return sum;
}

std::string kib_of(std::uint64_t bytes) { return std::to_string(bytes / 1024) + " KiB"; }

}  // namespace

void measure_idle_hour() {
  IdleNode node;
  const IdleNode::Spent before = node.spent();
  node.run_an_hour();
  const IdleNode::Spent after = node.spent();
  print("uplink, an idle hour, as --uplink-budget counts", kib_of(after.uplink - before.uplink),
        "427 KiB (10 MB a day)", "");
  print("uplink, an idle hour, with HTTP/2", kib_of(after.on_wire - before.on_wire),
        "341 KiB (8 MB a day)", "");
  print("flash, an idle hour of a kubelet's heartbeats", kib_of(after.flash - before.flash),
        "2,133 KiB (50 MB a day)", "");
  print("fsyncs, an idle hour", std::to_string(after.syncs - before.syncs), "", "");
}

}  // namespace holdfast::bench
