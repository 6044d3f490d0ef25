#include "test/unit/agent/cloud/scheduler/scheduler_fixture.h"

#include <boost/json.hpp>

#include "sync/wire/codec.h"
#include "sync/wire/read.h"

namespace holdfast::agent {

namespace json = boost::json;

namespace {

json::array items_of(const std::string& list) {
  const json::value whole = json::parse(list);
  return whole.at("items").is_array() ? whole.at("items").as_array() : json::array();
}

std::string priority_class(const std::string& name, int value) {
  return R"({"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":")" +
         name + R"("},"value":)" + std::to_string(value) + "}";
}

}  // namespace

SchedulerFixture::SchedulerFixture() {
  const std::string classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
  cluster.ask(http::Method::post, classes, priority_class("high", 1000));
  cluster.ask(http::Method::post, classes, priority_class("middle", 500));
}

CloudSettings SchedulerFixture::settings() const {
  CloudSettings settings = cluster.settings(cluster.proxy);
  settings.controllers = {"scheduler"};
  return settings;
}

void SchedulerFixture::start(const CloudSettings& settings) {
  replica = std::make_unique<Replica>(cluster.time, settings);
}

void SchedulerFixture::add_node(const std::string& name, const std::string& cores) {
  cluster.add_node(name);
  cluster.ask(http::Method::patch, "/api/v1/nodes/" + name, R"({"spec":{"taints":null}})", merge);
  cluster.ask(
      http::Method::patch, "/api/v1/nodes/" + name + "/status",
      R"({"status":{"allocatable":{"cpu":")" + cores + R"(","memory":"8Gi","pods":"110"}}})",
      merge);
}

void SchedulerFixture::add_pod(const std::string& name, const std::string& cpu,
                               const std::string& rest, const std::string& labels) {
  const std::string more = rest.empty() ? "" : "," + rest;
  cluster.ask(http::Method::post, pods,
              R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name + R"(","labels":{)" +
                  labels +
                  R"(}},"spec":{"schedulerName":"holdfast-scheduler","containers":[{"name":"c",)"
                  R"("image":"i","resources":{"requests":{"cpu":")" +
                  cpu + R"("}}}])" + more + "}}");
}

void SchedulerFixture::run_pod(const std::string& pod) {
  cluster.ask(http::Method::patch, pods + "/" + pod + "/status",
              R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})",
              strategic);
}

void SchedulerFixture::add_budget(const std::string& name, const std::string& selector,
                                  int allowed) {
  const std::string path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  cluster.ask(http::Method::post, path,
              R"({"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":")" +
                  name + R"("},"spec":{"minAvailable":1,"selector":)" + selector + "}}");
  cluster.ask(http::Method::patch, path + "/" + name + "/status",
              R"({"status":{"disruptionsAllowed":)" + std::to_string(allowed) + "}}", merge);
}

void SchedulerFixture::finish_deleted() {
  for (const json::value& item : items_of(cluster.ask(http::Method::get, pods))) {
    const json::object& pod = item.as_object();
    if (sync::wire::dig(pod, {"metadata", "deletionTimestamp"}) == nullptr) continue;
    cluster.ask(http::Method::remove,
                pods + "/" + std::string(sync::wire::dig_text(pod, {"metadata", "name"})),
                R"({"gracePeriodSeconds":0})");
  }
}

sync::Pod SchedulerFixture::pod(const std::string& name) {
  const std::string body = cluster.ask(http::Method::get, pods + "/" + name);
  return sync::wire::decode_bytes<sync::Pod>(body).value_or(sync::Pod{});
}

bool SchedulerFixture::exists(const std::string& name) {
  const json::array items = items_of(cluster.ask(http::Method::get, pods));
  return std::any_of(items.begin(), items.end(), [&name](const json::value& item) {
    return sync::wire::dig_text(item.as_object(), {"metadata", "name"}) == name;
  });
}

std::string SchedulerFixture::condition(const std::string& name, const std::string& type) {
  const sync::Pod found = pod(name);
  const auto* condition = find_condition(found.status, type);
  if (condition == nullptr) return "";
  if (condition->reason.empty()) return condition->status;
  return condition->status + " " + condition->reason + ": " + condition->message;
}

std::string SchedulerFixture::events(const std::string& name) {
  std::string text;
  const std::string path = "/apis/events.k8s.io/v1/namespaces/default/events";
  for (const json::value& item : items_of(cluster.ask(http::Method::get, path))) {
    const json::object& event = item.as_object();
    if (sync::wire::dig_text(event, {"regarding", "name"}) != name) continue;
    text += std::string(sync::wire::dig_text(event, {"type"})) + " " +
            std::string(sync::wire::dig_text(event, {"reason"})) + " " +
            std::string(sync::wire::dig_text(event, {"action"})) + ": " +
            std::string(sync::wire::dig_text(event, {"note"}));
    const std::int64_t count = sync::wire::dig_int(event, {"series", "count"});
    if (count > 1) text += " x" + std::to_string(count);
    text += "\n";
  }
  return text;
}

std::string SchedulerFixture::metrics() {
  const http::Request request{.target = "/metrics"};
  return (*replica)->endpoints().answer(request).body;
}

bool SchedulerFixture::has_metric(const std::string& line) {
  return metrics().find("\n" + line + "\n") != std::string::npos;
}

FakeExtender::FakeExtender(test::VirtualTime& time) : time_(time), never_(time.executor()) {
  server_ = std::make_unique<http::Server>(
      time.executor(), http::ServerLimits{},
      [this](const http::Request& request) { return answer(request); });
  auto listener = net::Listener::open(time.executor(), {"127.0.0.1", 0}, nullptr).value();
  port_ = listener->port();
  server_->listen(std::move(listener));
}

FakeExtender::~FakeExtender() { time_.complete(server_->stop(time_.clock().mono())); }

asio::awaitable<http::Response> FakeExtender::answer(const http::Request& request) {
  const std::string verb(request.path().substr(1));
  asked.push_back(verb);
  const auto found = answers.find(verb);
  http::Response response{.status = found == answers.end() ? 404 : 200};
  if (found != answers.end()) response.body = found->second;
  while (response.body == "hang") co_await never_.wait();
  co_return response;
}

}  // namespace holdfast::agent
