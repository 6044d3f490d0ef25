#include "test/unit/agent/cloud/cluster.h"

#include <algorithm>

#include "sync/wire/codec.h"
#include "sync/wire/status.h"
#include "test/support/kubeconfig.h"

namespace holdfast::agent {
namespace {

const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const std::string pods = "/api/v1/namespaces/default/pods";
const std::string strategic = "application/strategic-merge-patch+json";
const std::string watching = " (watch)";  // in FaultyProxy::asked
const std::string merge = "application/merge-patch+json";

std::string ready_status(const std::string& time) {
  return R"({"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady",)"
         R"("lastHeartbeatTime":")" +
         time + R"(","lastTransitionTime":")" + time + R"("}]})";
}

std::string tolerates(const char* key, std::int64_t seconds) {
  return std::string(R"({"key":"node.kubernetes.io/)") + key +
         R"(","operator":"Exists","effect":"NoExecute","tolerationSeconds":)" +
         std::to_string(seconds) + "}";
}

void replace_all(std::string& text, const std::pair<std::string, std::string>& spoil) {
  if (spoil.first.empty()) return;
  for (auto at = text.find(spoil.first); at != std::string::npos; at = text.find(spoil.first, at)) {
    text.replace(at, spoil.first.size(), spoil.second);
    at += spoil.second.size();
  }
}

}  // namespace

// The stream of a watch that was opened through a FaultyProxy.
class FaultyProxy::Stream final : public http::BodyStream {
 public:
  Stream(FaultyProxy& proxy, std::shared_ptr<http::BodyStream> inner)
      : door_(proxy), inner_(std::move(inner)) {}

  asio::awaitable<Result<std::string>> next() override {
    auto piece = co_await inner_->next();
    while (!cancelled_ && (door_.state_ == State::mute || door_.state_ == State::black_hole)) {
      co_await door_.changed_.wait();
    }
    if (piece) replace_all(*piece, door_.spoil);
    co_return piece;
  }
  void cancel() override {
    cancelled_ = true;
    inner_->cancel();
    door_.changed_.notify_all();
  }

 private:
  FaultyProxy& door_;
  std::shared_ptr<http::BodyStream> inner_;
  bool cancelled_ = false;
};

FaultyProxy::FaultyProxy(asio::any_io_executor executor, lab::ApiServer& api)
    : executor_(executor),
      api_(api),
      changed_(executor),
      address_(net::ReservedAddress::open(executor, {"127.0.0.1", 0}).value()) {
  listen();
}

void FaultyProxy::listen() {
  server_ = std::make_unique<http::Server>(
      executor_, http::ServerLimits{},
      [this](const http::Request& request) { return answer(request); }, lab::reply_problem);
  server_->listen(address_.listen(nullptr).value());
}

void FaultyProxy::set(test::VirtualTime& time, State state) {
  state_ = state;
  changed_.notify_all();
  if (state == State::refuse && server_) {
    time.complete(server_->stop(time.clock().mono()));
    server_.reset();
  } else if (state == State::open && !server_) {
    listen();
  }
}

void FaultyProxy::refuse(std::string request, int status) {
  refused_ = std::move(request);
  refusal_ = status;
  changed_.notify_all();
}

asio::awaitable<http::Response> FaultyProxy::answer(const http::Request& request) {
  const bool watch = request.target.find("watch=true") != std::string::npos;
  asked.push_back(std::string(http::to_string(request.method)) + " " + std::string(request.path()) +
                  (watch ? watching : ""));
  while (state_ == State::black_hole) co_await changed_.wait();
  if (state_ == State::overloaded) co_return http::Response{.status = 429, .body = "busy"};
  const std::string text = asked.back();
  const auto is_refused = [this, &text] { return text == refused_ || text == refused_ + watching; };
  while (is_refused() && refusal_ == 0) co_await changed_.wait();
  if (is_refused()) {
    auto refused = sync::wire::status::forbidden(
        {"", "things"}, "", R"(User "holdfast" cannot do this with resource "things")");
    refused.code = refusal_;
    if (refusal_ != 403) refused.reason.clear();
    co_return http::Response{.status = refused.code,
                             .headers = {{"Content-Type", "application/json"}},
                             .body = refused.body()};
  }
  http::Response response = co_await api_.handler()(request);
  replace_all(response.body, spoil);
  if (response.stream) response.stream = std::make_shared<Stream>(*this, response.stream);
  co_return response;
}

Replica::Replica(test::VirtualTime& time, const CloudSettings& settings)
    : time_(time), service_(CloudService::make(time.executor(), settings, time.clock(), [this] {
                              gave_up = true;
                            }).value()) {
  EXPECT_TRUE(service_->start());
}

Replica::~Replica() { stop(); }

void Replica::stop() {
  if (std::exchange(stopped_, true)) return;
  time_.complete(service_->stop(time_.clock().mono() + 5s));
}

Cluster::Cluster()
    : api_(lab::ApiServer::open(time.executor(), time.clock(), Random(1),
                                {.data = scratch_.path() / "data", .controllers = false})
               .value()),
      proxy(time.executor(), *api_),
      other_proxy(time.executor(), *api_),
      tasks_(time.executor()) {
  tasks_.spawn("api", api_->run());
  tasks_.spawn("beat", beat());
}

Cluster::~Cluster() {
  proxy.set(time, FaultyProxy::State::refuse);
  other_proxy.set(time, FaultyProxy::State::refuse);
  tasks_.cancel();
  time.complete(tasks_.join());
  api_->stop();
}

CloudSettings Cluster::settings(const FaultyProxy& at) const {
  const std::string port = std::to_string(at.port());
  CloudSettings settings;
  settings.kubeconfig =
      test::write_kubeconfig(scratch_.path() / ("kubeconfig-" + port), "http://127.0.0.1:" + port);
  settings.leader.elect = false;
  settings.endpoints.secure_port = 0;
  return settings;
}

asio::awaitable<void> Cluster::send(http::Request request, std::string& body) {
  const http::Response response = co_await api_->handler()(request);
  EXPECT_LT(response.status, 300) << request.target << " " << response.body;
  body = response.body;
}

std::string Cluster::ask(http::Method method, std::string target, std::string body,
                         std::string type) {
  http::Request request{.method = method, .target = std::move(target), .body = std::move(body)};
  request.headers.set("Content-Type", std::move(type));
  std::string answer;
  time.complete(send(std::move(request), answer));
  return answer;
}

void Cluster::add_node(const std::string& name) {
  const std::string now = format_rfc3339(nodes_clock());
  ask(http::Method::post, "/api/v1/nodes",
      R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"("},"status":)" +
          ready_status(now) + "}");
  ask(http::Method::post, leases,
      R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":")" + name +
          R"("},"spec":{"holderIdentity":")" + name + R"("}})");
  living_.insert(name);
}

void Cluster::remove_node(const std::string& name) {
  living_.erase(name);
  ask(http::Method::remove, "/api/v1/nodes/" + name);
  ask(http::Method::remove, leases + "/" + name);
}

void Cluster::add_pod(const std::string& name, const std::string& node, std::int64_t seconds) {
  ask(http::Method::post, pods,
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
          R"("},"spec":{"nodeName":")" + node +
          R"(","containers":[{"name":"c","image":"i"}],"tolerations":[)" +
          tolerates("unreachable", seconds) + "," + tolerates("not-ready", seconds) + "]}}");
  ask(http::Method::patch, pods + "/" + name + "/status",
      R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})", strategic);
}

void Cluster::annotate(const std::string& node, const std::string& key, const std::string& value) {
  ask(http::Method::patch, "/api/v1/nodes/" + node,
      R"({"metadata":{"annotations":{")" + key + R"(":")" + value + R"("}}})", merge);
}

void Cluster::revive(const std::string& node) {
  living_.insert(node);
  ask(http::Method::patch, "/api/v1/nodes/" + node + "/status",
      R"({"status":)" + ready_status(format_rfc3339(nodes_clock())) + "}", strategic);
}

sync::Node Cluster::node(const std::string& name) {
  const std::string body = ask(http::Method::get, "/api/v1/nodes/" + name);
  return sync::wire::decode_bytes<sync::Node>(body).value_or(sync::Node{});
}

std::string Cluster::ready(const std::string& name) {
  const sync::Node found = node(name);
  const auto* condition = find_condition(found.status, "Ready");
  return condition == nullptr ? "" : condition->status;
}

std::string Cluster::taints(const std::string& name) {
  std::string text;
  for (const auto& taint : node(name).spec.taints) text += taint.key + ":" + taint.effect + " ";
  return text;
}

bool Cluster::is_terminating(const std::string& pod) {
  const std::string body = ask(http::Method::get, pods + "/" + pod);
  const auto found = sync::wire::decode_bytes<sync::Pod>(body);
  return found && found->metadata.deletion_timestamp.has_value();
}

std::size_t Cluster::count(const FaultyProxy& proxy, const std::string& start) {
  return static_cast<std::size_t>(
      std::count_if(proxy.asked.begin(), proxy.asked.end(),
                    [&start](const auto& line) { return line.starts_with(start); }));
}

asio::awaitable<void> Cluster::beat() {
  while (true) {
    const std::set<std::string> names = renewing ? living_ : std::set<std::string>{};
    for (const std::string& name : names) {
      http::Request request{.method = http::Method::patch, .target = leases + "/" + name};
      request.body = R"({"spec":{"renewTime":")" +
                     format_rfc3339(nodes_clock(), TimeDigits::micros) + R"("}})";
      request.headers.set("Content-Type", merge);
      std::string ignored;
      co_await send(std::move(request), ignored);
    }
    co_await loop::sleep_until(time.clock().mono() + 10s);
  }
}

}  // namespace holdfast::agent
