#include "test/unit/agent/edge/filters/filter_fixture.h"

#include <gtest/gtest.h>

#include "platform/text.h"
#include "sync/objects/protobuf.h"
#include "sync/wire/frames.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/frames.h"
#include "sync/wire/protobuf/list.h"
#include "sync/wire/read.h"
#include "test/support/answered.h"
#include "test/support/edge_options.h"
#include "test/support/kubeconfig.h"

namespace holdfast::agent::filtered {
namespace {

std::string as_json(const std::string& object) {
  return sync::wire::is_protobuf(object) ? sync::objects::json_of_protobuf(object).value() : object;
}

void take(OpenWatch& watch, const std::string& frame) {
  const sync::wire::WatchEvent event = watch.protobuf
                                           ? sync::wire::decode_protobuf_event(frame).value()
                                           : sync::wire::decode_event(frame).value();
  if (event.type == sync::wire::WatchEvent::Type::bookmark) {
    ++watch.bookmarks;
    return;
  }
  const std::string object =
      event.type == sync::wire::WatchEvent::Type::error ? event.object : as_json(event.object);
  const json::value value = sync::wire::is_protobuf(object)
                                ? json::value(json::object())
                                : sync::wire::parse_json(object).value();
  std::string line(to_string(event.type));
  const std::string_view name = sync::wire::name_of(value.as_object());
  if (!name.empty()) line.append(" ").append(name);
  watch.events.push_back(line);
  watch.objects.push_back(object);
}

asio::awaitable<void> read_watch(std::shared_ptr<OpenWatch> watch) {
  sync::wire::FrameSplitter lines;
  sync::wire::ProtobufFrames frames;
  for (;;) {
    const auto piece = co_await watch->stream->next();
    if (!piece || piece->empty()) break;
    const auto read = watch->protobuf ? frames.feed(*piece) : lines.feed(*piece);
    for (const std::string& frame : read.value()) take(*watch, frame);
  }
  watch->ended = true;
}

asio::awaitable<void> handle(http::Handler handler, http::Request request, http::Response& into) {
  into = co_await handler(request);
}

asio::awaitable<void> end(loop::Tasks& tasks) {
  tasks.cancel();
  co_await tasks.join();
}

http::Request request_of(const Client& client, const std::string& target, const std::string& method,
                         const std::string& body) {
  http::Request request{.method = http::parse_method(method), .target = target, .body = body};
  request.headers.add("User-Agent", client.component + "/v1.32.4 (linux/amd64) kubernetes/abc");
  const std::string usual =
      client.protobuf ? "application/vnd.kubernetes.protobuf,application/json" : "application/json";
  request.headers.add("Accept", client.accept.empty() ? usual : client.accept);
  const bool patch = method == "PATCH";
  if (!body.empty()) {
    request.headers.add("Content-Type",
                        patch ? "application/strategic-merge-patch+json" : "application/json");
  }
  return request;
}

}  // namespace

FilterFixture::FilterFixture(EdgeOptions options) : options_(std::move(options)) {
  lab_ =
      std::make_unique<test::LabServer>(time.executor(), time.clock(), scratch_.path() / "server");
  tasks_ = std::make_unique<loop::Tasks>(time.executor());
  tasks_->spawn("apiserver", lab_->run());
  listen();
  const std::string kubeconfig =
      test::write_kubeconfig(scratch_.path() / "kubeconfig", "http://" + address_.at().text());
  test::set_up(options_, "edge-a", kubeconfig, scratch_.path() / "data");
  on_server("POST", "/api/v1/nodes",
            R"({"metadata":{"name":"edge-a","labels":{"apps.openyurt.io/nodepool":"hangzhou"}}})");
  on_server("POST", "/api/v1/namespaces", R"({"metadata":{"name":"ns"}})");
  start_agent();
}

FilterFixture::~FilterFixture() {
  for (const auto& watch : watches_) watch->stream->cancel();
  stop_agent();
  lab_->stop();
  if (server_) time.complete(server_->stop(time.clock().mono()));
  time.complete(end(*tasks_));
  time.settle();
}

void FilterFixture::listen() {
  server_ = std::make_unique<http::Server>(
      time.executor(), http::ServerLimits{},
      [this](const http::Request& request) { return answer(request); });
  server_->listen(address_.listen(nullptr).value());
}

void FilterFixture::start_agent() {
  edge_ = Edge::make(time.executor(), options_, time.clock()).value();
  EXPECT_TRUE(edge_->start());
  const auto connected = [this] {
    return edge_->uplink().link().state() == sync::autonomy::LinkState::connected;
  };
  EXPECT_TRUE(!server_ || time.run_until(1min, connected));
}

void FilterFixture::stop_agent() {
  clients_.clear();
  time.complete(edge_->stop(time.clock().mono() + 5s));
  edge_.reset();
}

void FilterFixture::restart_agent() {
  for (const auto& watch : watches_) watch->stream->cancel();
  stop_agent();
  start_agent();
}

void FilterFixture::cut() {
  time.complete(server_->stop(time.clock().mono()));
  server_.reset();
  const auto offline = [this] {
    return edge_->uplink().link().state() == sync::autonomy::LinkState::offline;
  };
  EXPECT_TRUE(time.run_until(1min, offline));
}

asio::awaitable<http::Response> FilterFixture::answer(const http::Request& request) {
  const std::string path(request.path());
  asked.push_back(path);
  if (refused.contains(path)) co_return http::Response{.status = 503};
  if (absent.contains(path)) co_return http::Response{.status = 404};
  if (forbidden.contains(path)) co_return http::Response{.status = 403};
  if (path.starts_with("/apis/apps.openyurt.io/")) co_return pools(request);
  co_return co_await lab_->handler()(request);
}

// Answers for NodePools and NodeBuckets, which the lab does not have. Each bucket holds one node.
http::Response FilterFixture::pools(const http::Request& request) {
  http::Response response{.status = 200, .headers = {{"Content-Type", "application/json"}}};
  if (request.query().find("watch=") != std::string_view::npos) return {.status = 500};
  const bool buckets = request.path().ends_with("/nodebuckets");
  json::array items;
  if (buckets) {
    for (const std::string& node : pool_nodes) {
      items.push_back(json::object{
          {"metadata",
           json::object{{"name", "hangzhou-" + node},
                        {"uid", "b-" + node},
                        {"resourceVersion", "5"},
                        {"labels", json::object{{"openyurt.io/pool-name", "hangzhou"}}}}},
          {"nodes", json::array{json::object{{"name", node}}}}});
    }
  } else if (has_pool) {
    items.push_back(json::object{
        {"metadata", json::object{{"name", "hangzhou"}, {"uid", "p"}, {"resourceVersion", "5"}}},
        {"status", json::object{{"nodes", json::array(pool_nodes.begin(), pool_nodes.end())}}}});
  }
  response.body = sync::wire::serialize(json::object{
      {"kind", buckets ? "NodeBucketList" : "NodePoolList"},
      {"apiVersion", buckets ? "apps.openyurt.io/v1alpha1" : "apps.openyurt.io/v1beta2"},
      {"metadata", json::object{{"resourceVersion", std::to_string(5 + asked.size())}}},
      {"items", std::move(items)}});
  return response;
}

json::object FilterFixture::on_server(const std::string& method, const std::string& target,
                                      const std::string& body) {
  http::Response response;
  http::Request request = request_of({"test"}, target, method, body);
  if (method == "PATCH") request.headers.set("Content-Type", "application/merge-patch+json");
  time.complete(handle(lab_->handler(), std::move(request), response));
  EXPECT_EQ(response.status / 100, 2) << method << " " << target << ": " << response.body;
  time.settle();
  return sync::wire::parse_json(response.body).value().as_object();
}

http::Response FilterFixture::ask(const Client& client, const std::string& target,
                                  const std::string& method, const std::string& body) {
  http::Response answer;
  const http::Request request = request_of(client, target, method, body);
  clients_.push_back(std::make_unique<http::Client>(http::Endpoint{{"127.0.0.1", edge_->port()}}));
  time.complete(test::answer_into(*clients_.back(), request, time.clock().mono() + 30s, answer));
  return answer;
}

json::value FilterFixture::get(const Client& client, const std::string& target) {
  const http::Response answer = ask(client, target);
  EXPECT_EQ(answer.status, 200) << client.component << " " << target << " " << answer.body;
  if (answer.status != 200) return json::object();
  if (!sync::wire::is_protobuf(answer.body)) {
    const json::value value = sync::wire::parse_json(answer.body).value();
    const json::value* items = value.as_object().if_contains("items");
    return items == nullptr ? value : *items;
  }
  const auto list = sync::wire::split_protobuf_list(answer.body);
  if (!list) return sync::objects::object_of_protobuf(answer.body).value();
  json::array items;
  for (const std::string_view item : list->items) {
    items.push_back(sync::objects::object_of_protobuf(
                        sync::wire::enveloped(list->head.api_version,
                                              sync::wire::item_kind(list->head.kind), item))
                        .value());
  }
  return items;
}

std::string FilterFixture::names(const Client& client, const std::string& target) {
  const json::value items = get(client, target);
  std::vector<std::string> found;
  if (!items.is_array()) return "no list";
  for (const json::value& item : items.get_array()) {
    found.emplace_back(sync::wire::name_of(item.as_object()));
  }
  return join(found, " ");
}

std::shared_ptr<OpenWatch> FilterFixture::watch(const Client& client, const std::string& target) {
  const http::Response answer = ask(client, target);
  EXPECT_EQ(answer.status, 200) << answer.body;
  auto open = std::make_shared<OpenWatch>();
  open->stream = answer.stream;
  open->protobuf = sync::wire::is_protobuf_type(answer.headers.get("content-type"));
  if (!answer.stream) return open;
  watches_.push_back(open);
  tasks_->spawn("watch", read_watch(open));
  time.settle();
  return open;
}

std::string FilterFixture::news(const std::shared_ptr<OpenWatch>& watch) {
  time.run(50ms);
  const std::string line = join(watch->events, ", ");
  watch->events.clear();
  return line;
}

http::Response FilterFixture::admin(const std::string& target, const std::string& method) {
  http::Response answer;
  const http::Request request{.method = http::parse_method(method), .target = target};
  http::Client client(http::Endpoint{{"127.0.0.1", edge_->admin_port()}});
  time.complete(test::answer_into(client, request, time.clock().mono() + 30s, answer));
  return answer;
}

void FilterFixture::restore() {
  listen();
  const auto connected = [this] {
    return edge_->uplink().link().state() == sync::autonomy::LinkState::connected;
  };
  EXPECT_TRUE(time.run_until(2min, connected));
}

}  // namespace holdfast::agent::filtered
