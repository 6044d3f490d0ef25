#include "test/unit/agent/edge/replay/fake_upstream.h"

#include "platform/check.h"
#include "platform/text.h"
#include "sync/objects/patch/patch.h"
#include "sync/objects/protobuf.h"
#include "sync/wire/encoding.h"
#include "sync/wire/object_header.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/frames.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/protobuf/list.h"

namespace holdfast::agent::replay {
namespace {

using EventType = sync::wire::WatchEvent::Type;

// A list that the agent makes for its own settings; there are none.
constexpr std::string_view settings =
    "/api/v1/namespaces/kube-system/configmaps metadata.name=yurt-hub-cfg";
constexpr std::string_view no_settings =
    R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]})";

constexpr std::string_view csi_nodes = "/apis/storage.k8s.io/v1/csinodes";

http::Response protobuf(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", std::string(sync::wire::protobuf_type)}},
          .body = std::move(body)};
}

sync::wire::WatchEvent event_of(const Frame& frame) {
  return sync::wire::decode_protobuf_event(std::string_view(frame.bytes).substr(4)).value();
}

std::int64_t number(std::string_view version) {
  return parse_int<std::int64_t>(version).value_or(0);
}

}  // namespace

// A client's watch: the frames of its scope that are newer than those it has seen.
class UpstreamWatch final : public http::BodyStream {
 public:
  UpstreamWatch(FakeUpstream& upstream, std::string scope, std::int64_t seen)
      : upstream_(upstream), scope_(std::move(scope)), seen_(seen) {}

  asio::awaitable<Result<std::string>> next() override {
    for (;;) {
      if (cancelled_) co_return fail(Errc::cancelled, "watch");
      std::string piece = take();
      if (!piece.empty()) co_return piece;
      co_await upstream_.changed_.wait();
    }
  }
  void cancel() override {
    cancelled_ = true;
    upstream_.changed_.notify_all();
  }

 private:
  std::string take() {
    std::string piece;
    const auto& frames = upstream_.scopes_[scope_].frames;
    for (; at_ < frames.size(); ++at_) {
      const sync::wire::WatchEvent event = event_of(frames[at_]);
      if (number(event.resource_version) <= seen_) continue;
      seen_ = number(event.resource_version);
      piece += frames[at_].bytes;
    }
    return piece;
  }

  FakeUpstream& upstream_;
  std::string scope_;
  std::int64_t seen_;
  std::size_t at_ = 0;
  bool cancelled_ = false;
};

FakeUpstream::FakeUpstream(asio::any_io_executor executor, const Recording& recording)
    : executor_(executor),
      recording_(recording),
      address_(net::ReservedAddress::open(executor, {"127.0.0.1", 0}).value()),
      changed_(std::move(executor)) {}

void FakeUpstream::listen() {
  server_ = std::make_unique<http::Server>(
      executor_, http::ServerLimits{},
      [this](const http::Request& request) { return answer(request); });
  server_->listen(address_.listen(nullptr).value());
}

asio::awaitable<void> FakeUpstream::cut(MonoTime deadline) {
  if (server_) co_await server_->stop(deadline);
  server_.reset();
}

void FakeUpstream::advance(const Exchange& to) {
  now_ = &to;
  for (const Exchange& exchange : recording_.exchanges) {
    if (exchange.line > to.line) break;
    const bool is_new = exchange.line == to.line;
    if (is_new && exchange.is_list()) take_list(scopes_[scope_of(exchange.request)], exchange);
    if (is_new && exchange.is_watch_list()) {
      take_initial(scopes_[scope_of(exchange.request)], exchange);
    }
    if (exchange.is_watch) take_frames(scopes_[scope_of(exchange.request)], exchange, to.at);
  }
  note_csi_node(to);
  changed_.notify_all();
}

void FakeUpstream::take_list(Scope& scope, const Exchange& list) {
  const sync::wire::ListBytes bytes = sync::wire::split_protobuf_list(list.body).value();
  Objects objects;
  for (const std::string_view item : bytes.items) {
    std::string object =
        sync::wire::enveloped(bytes.head.api_version, sync::wire::item_kind(bytes.head.kind), item);
    objects[sync::wire::read_protobuf_header(object).value().name] = std::move(object);
  }
  scope.head = bytes.head;
  replace(scope, std::move(objects), list.at);
}

// The objects come at once, as in a list; the bookmark after them has the list's kind and version.
void FakeUpstream::take_initial(Scope& scope, const Exchange& watch) {
  const std::size_t initial = watch.initial_frames();
  taken_[watch.line] = initial + 1;
  Objects objects;
  for (std::size_t i = 0; i < initial; ++i) {
    const sync::wire::WatchEvent event = event_of(watch.frames[i]);
    objects[sync::wire::read_protobuf_header(event.object).value().name] = event.object;
  }
  const sync::wire::WatchEvent bookmark = event_of(watch.frames[initial]);
  const sync::wire::Envelope envelope = sync::wire::open_envelope(bookmark.object).value();
  scope.head = {.kind = std::string(envelope.kind) + "List",
                .api_version = std::string(envelope.api_version),
                .resource_version = bookmark.resource_version};
  replace(scope, std::move(objects), watch.at);
}

// Applies changes that happened while the kubelet had no watch: other watches of the scope receive
// them as events.
void FakeUpstream::replace(Scope& scope, Objects objects, Duration at) {
  std::map<std::int64_t, Frame> changes;  // by version
  for (const auto& [name, object] : objects) {
    const auto known = scope.objects.find(name);
    if (known != scope.objects.end() && known->second == object) continue;
    const EventType type = known == scope.objects.end() ? EventType::added : EventType::modified;
    const sync::wire::ObjectHeader header = sync::wire::read_protobuf_header(object).value();
    changes[number(header.resource_version)] = {at,
                                                sync::wire::encode_protobuf_event(type, object)};
  }
  for (const auto& [name, object] : scope.objects) {
    CHECK(objects.contains(name));  // every deletion in a recording is also in a watch
  }
  for (auto& [version, frame] : changes) scope.frames.push_back(std::move(frame));
  scope.objects = std::move(objects);
  scope.version = scope.head.resource_version;
}

void FakeUpstream::take_frames(Scope& scope, const Exchange& watch, Duration until) {
  std::size_t& taken = taken_[watch.line];
  for (; taken < watch.frames.size() && watch.frames[taken].at <= until; ++taken) {
    const Frame& frame = watch.frames[taken];
    const sync::wire::WatchEvent event = event_of(frame);
    if (number(event.resource_version) <= number(scope.version)) continue;
    scope.version = event.resource_version;
    scope.frames.push_back(frame);
    if (event.type == EventType::bookmark) continue;
    const std::string name = sync::wire::read_protobuf_header(event.object).value().name;
    if (event.type == EventType::deleted) {
      scope.objects.erase(name);
    } else {
      scope.objects[name] = event.object;
    }
  }
}

// The kubelet never lists CSINodes, but the agent does, to answer for them while offline.
void FakeUpstream::note_csi_node(const Exchange& exchange) {
  if (!exchange.request.path().starts_with(csi_nodes)) return;
  Scope& scope = scopes_["/apis/storage.k8s.io/v1/csinodes metadata.name=edge1"];
  if (scope.version.empty()) {
    scope.head = {.kind = "CSINodeList", .api_version = "storage.k8s.io/v1"};
    scope.version = "1";
  }
  if (exchange.status >= 300 || !scope.objects.empty()) return;
  const sync::wire::ObjectHeader header = sync::wire::read_protobuf_header(exchange.body).value();
  scope.objects[header.name] = exchange.body;
  scope.version = header.resource_version;
  scope.frames.push_back(
      {exchange.at, sync::wire::encode_protobuf_event(EventType::added, exchange.body)});
}

const FakeUpstream::Objects* FakeUpstream::objects(const std::string& scope) const {
  const auto found = scopes_.find(scope);
  return found == scopes_.end() ? nullptr : &found->second.objects;
}

asio::awaitable<http::Response> FakeUpstream::answer(const http::Request& request) {
  const bool agent = request.headers.get("user-agent").starts_with("holdfast");
  const bool get = request.method == http::Method::get;
  const std::string scope = scope_of(request);
  if (request.path().find("/leases") != std::string_view::npos && agent) co_return lease(request);
  if (request.query().find("watch=true") != std::string_view::npos) co_return watch(request);
  if (agent && get && scope == settings) {
    co_return http::Response{.status = 200,
                             .headers = {{"Content-Type", "application/json"}},
                             .body = std::string(no_settings)};
  }
  if (agent && get && request.path() == "/api/v1/nodes/edge1") co_return node();
  if (agent && get && scopes_.contains(scope)) co_return list(scope);
  const bool same = now_ != nullptr && request.method == now_->request.method &&
                    request.path() == now_->request.path();
  if (same) co_return protobuf(now_->status, now_->body);
  unexpected.push_back(std::string(http::to_string(request.method)) + " " + request.target);
  co_return http::Response{.status = 500};
}

http::Response FakeUpstream::lease(const http::Request& request) {
  if (request.method == http::Method::get) return {.status = 404};
  std::string written = request.body;
  if (request.method == http::Method::patch) {
    if (lease_.empty()) return {.status = 404};
    auto known = sync::wire::parse_json(lease_).value();
    written = sync::wire::serialize(sync::objects::apply_patch(sync::objects::PatchType::merge,
                                                               "Lease", std::move(known), written)
                                        .value());
  }
  auto body = sync::wire::with_resource_version(written, std::to_string(++renewals));
  CHECK(body);
  lease_ = *body;
  return {.status = request.method == http::Method::post ? 201 : 200,
          .headers = {{"Content-Type", "application/json"}},
          .body = *std::move(body)};
}

// The node in JSON, as the agent reads it when it reconnects.
http::Response FakeUpstream::node() {
  const Objects& nodes = scopes_["/api/v1/nodes metadata.name=edge1"].objects;
  if (nodes.empty()) return {.status = 404};
  return {.status = 200,
          .headers = {{"Content-Type", "application/json"}},
          .body = sync::objects::json_of_protobuf(nodes.begin()->second).value()};
}

http::Response FakeUpstream::list(const std::string& name) {
  const Scope& scope = scopes_[name];
  sync::wire::ListHead head = scope.head;
  head.resource_version = scope.version;
  std::vector<std::string_view> items;
  for (const auto& [object, bytes] : scope.objects) {
    items.push_back(sync::wire::open_envelope(bytes).value().raw);
  }
  return protobuf(200, sync::wire::join_protobuf_list(head, items));
}

http::Response FakeUpstream::watch(const http::Request& request) {
  const auto query = Query::parse(request.query());
  CHECK(query);
  http::Response response = protobuf(200, "");
  response.headers.set("Content-Type",
                       std::string(sync::wire::watch_content_type(sync::wire::Encoding::protobuf)));
  response.stream = std::make_shared<UpstreamWatch>(*this, scope_of(request),
                                                    number(query->get("resourceVersion")));
  return response;
}

}  // namespace holdfast::agent::replay
