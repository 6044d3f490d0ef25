#include "agent/lab/sim/rest.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"
#include "sync/objects/patch/patch.h"
#include "sync/objects/request_info.h"
#include "sync/watch/cached_form.h"
#include "sync/wire/codec.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab::sim {
namespace {

namespace json = sync::json;

Answer refused() { return {.why = "connection refused", .code = Errc::unavailable}; }

// The object after the patch, or the answer that refuses it.
template <class T>
tl::expected<T, Answer> patched(const T& object, const Request& request) {
  const auto type = sync::objects::parse_patch_type(request.content_type);
  if (!type) return tl::unexpected(Answer{.status = 415});
  auto result =
      sync::objects::apply_patch(*type, T::kind, sync::wire::encode(object), request.body);
  if (!result) return tl::unexpected(Answer{.status = result.error().code});
  auto decoded = sync::wire::decode<T>(*result);
  if (!decoded) return tl::unexpected(Answer{.status = 422, .body = decoded.error().what});
  if (decoded->metadata.uid != object.metadata.uid)
    return tl::unexpected(Answer{.status = conflict});
  if (decoded->metadata.resource_version != object.metadata.resource_version) {
    return tl::unexpected(Answer{.status = conflict});
  }
  return *std::move(decoded);
}

Answer serve_node(Server& server, const sync::objects::RequestInfo& info, const Request& request,
                  Actor by) {
  if (info.verb == "create") {
    auto node = sync::wire::decode_bytes<sync::Node>(request.body);
    if (!node) return {.status = 400, .body = node.error().what};
    return {.status = server.create_node(*std::move(node), by)};
  }
  const NodePtr node = server.node(info.name);
  if (!node) return {.status = not_found};
  if (info.verb == "patch") {
    auto wanted = patched(*node, request);
    if (!wanted) return wanted.error();
    const int status = server.edit_node(info.name, "", "", by, [&wanted](sync::Node& edited) {
      edited.status = std::move(wanted->status);
      return true;
    });
    return {.status = status, .body = sync::wire::encode_bytes(*server.node(info.name))};
  }
  return {.status = ok, .body = sync::wire::encode_bytes(*node)};
}

Answer serve_pod(Server& server, const sync::objects::RequestInfo& info, const Request& request,
                 Actor by) {
  const std::string key = info.namespace_name + "/" + info.name;
  const PodPtr pod = server.pod(key);
  if (!pod) return {.status = not_found};
  if (info.verb == "patch") {
    auto wanted = patched(*pod, request);
    if (!wanted) return wanted.error();
    const int status = server.edit_pod(key, "", by, [&wanted](sync::Pod& edited) {
      edited.status = std::move(wanted->status);
      return true;
    });
    return {.status = status, .body = sync::wire::encode_bytes(*server.pod(key))};
  }
  if (info.verb == "delete") {
    const auto options = sync::wire::parse_json(request.body);
    std::string uid;
    std::optional<std::int64_t> grace;
    if (options && options->is_object()) {
      uid = sync::wire::dig_text(options->as_object(), {"preconditions", "uid"});
      const json::value* seconds = options->as_object().if_contains("gracePeriodSeconds");
      if (seconds != nullptr && seconds->is_int64()) grace = seconds->as_int64();
    }
    return {.status = server.delete_pod(key, uid, by, grace)};
  }
  return {.status = ok, .body = sync::wire::encode_bytes(*pod)};
}

std::size_t size_of(const Answer& answer) { return answer.body.size() + 100; }

}  // namespace

std::string_view to_string(RequestKind kind) {
  switch (kind) {
    case RequestKind::lease:
      return "lease";
    case RequestKind::node_status:
      return "node status";
    case RequestKind::pod_status:
      return "pod status";
    case RequestKind::list:
      return "list";
    case RequestKind::watch:
      return "watch";
    case RequestKind::removal:
      return "delete";
    case RequestKind::other:
      return "other";
  }
  UNREACHABLE();
}

void Traffic::note(RequestKind kind, std::size_t bytes) {
  Count& count = counts_[static_cast<std::size_t>(kind)];
  ++count.requests;
  count.bytes += bytes;
  const std::int64_t second =
      std::chrono::duration_cast<std::chrono::seconds>(engine_.elapsed()).count();
  if (std::exchange(second_, second) != second) in_second_ = 0;
  most_per_second_ = std::max(most_per_second_, ++in_second_);
  const auto at = static_cast<std::size_t>(engine_.elapsed() / interval_);
  if (per_interval_.size() <= at) per_interval_.resize(at + 1);
  ++per_interval_[at];
}

Answer serve(Server& server, const Request& request, Actor by) {
  const auto info = sync::objects::parse_request(request.verb, request.path, "");
  if (!info) return {.status = 400, .body = info.error().what};
  if (info->resource == "nodes") return serve_node(server, *info, request, by);
  if (info->resource == "pods") return serve_pod(server, *info, request, by);
  if (info->resource == "events") return {.status = created};
  return {.status = not_found};
}

std::vector<std::string> list_items(const Server& server, const std::string& node, ScopeOf scope) {
  std::vector<std::string> items;
  const auto add = [&items](std::string object) {
    auto item = sync::watch::cached_form(std::move(object));
    CHECK(item);
    items.push_back(*std::move(item));
  };
  if (scope == ScopeOf::node) {
    if (const NodePtr found = server.node(node)) add(sync::wire::encode_bytes(*found));
    return items;
  }
  if (server.has(ApiFault::empty_list)) return items;
  for (const PodPtr& pod : server.pods_of(node)) add(sync::wire::encode_bytes(*pod));
  return items;
}

// ----------------------------------------------------------------------------------- the client

Answer NodeClient::answer(const std::function<Answer()>& serve) {
  if (server_.is_down()) return refused();
  if (server_.has(ApiFault::bad_certificate)) {
    return {.why = "certificate verify failed", .code = Errc::denied};
  }
  if (server_.has(ApiFault::not_api)) {
    return {.why = "the answer is HTML, not from an API server", .code = Errc::corrupt};
  }
  if (server_.has(ApiFault::unavailable)) return {.status = unavailable};
  if (server_.has(ApiFault::overloaded)) return {.status = too_many};
  return serve();
}

void NodeClient::send(const Life& life, Request request, Duration limit, Done done) {
  const std::size_t bytes = request.body.size() + request.path.size() + 60;
  const RequestKind kind = request.kind;
  call(
      life, kind, bytes, limit,
      [this, request = std::move(request)] { return serve(server_, request, actor_); },
      std::move(done));
}

void NodeClient::call(const Life& life, RequestKind kind, std::size_t bytes, Duration limit,
                      std::function<Answer()> serve, Done done) {
  const auto ended = std::make_shared<bool>(false);
  const auto connection = link_.connect();
  // The connection holds this through on_reset, so it must not hold the connection.
  const auto end = [ended, done = std::move(done),
                    weak = std::weak_ptr(connection)](const Answer& answer) {
    if (std::exchange(*ended, true)) return;
    if (const auto open = weak.lock()) open->closed = true;
    done(answer);
  };
  if (link_.refuses()) {
    return engine_.after(std::chrono::milliseconds(1), life, [end] { end(refused()); });
  }
  connection->on_reset = [end, token = life.token()] {
    if (!token.expired()) end({.why = "connection reset", .code = Errc::unavailable});
  };
  link_.send(Way::up, connection, bytes,
             [this, kind, bytes, connection, end, serve = std::move(serve), token = life.token()] {
               if (server_.is_paused()) return;
               const Answer answer = this->answer(serve);
               if (!server_.is_down()) traffic_.note(kind, bytes + size_of(answer));
               link_.send(Way::down, connection, size_of(answer), [end, answer, token] {
                 if (!token.expired()) end(answer);
               });
             });
  engine_.after(limit, life, [end, connection] {
    end({.why = "deadline passed", .code = Errc::timeout});
    connection->closed = true;
  });
}

Link::ConnectionPtr NodeClient::watch(const Life& life, const std::string& node, ScopeOf scope,
                                      std::uint64_t version, Duration timeout,
                                      WatchHandlers handlers) {
  constexpr std::size_t request_bytes = 200;
  constexpr Duration bookmark_interval = std::chrono::minutes(1);
  const auto connection = link_.connect();
  const auto on = std::make_shared<WatchHandlers>(std::move(handlers));
  const auto fail = [connection, on](const Answer& why) {
    if (std::exchange(connection->closed, true)) return;
    on->failed(why);
  };
  if (link_.refuses()) {
    engine_.after(std::chrono::milliseconds(1), life, [fail] { fail(refused()); });
    return connection;
  }
  connection->on_reset = [on, token = life.token()] {
    if (!token.expired()) on->failed({.why = "connection reset", .code = Errc::unavailable});
  };
  const std::weak_ptr<void> token = life.token();  // A copy of `life` would keep it from ending.
  const auto down = [this, connection, token](std::size_t bytes, Task task) {
    link_.send(Way::down, connection, bytes, [token, task = std::move(task)] {
      if (!token.expired()) task();
    });
  };
  link_.send(Way::up, connection, request_bytes, [=, this] {
    if (server_.is_paused()) return;
    const auto open = std::make_shared<Server::WatchPtr>();
    const Answer first = answer([=, this]() -> Answer {
      *open = server_.watch_node(node, version, [=](const Change& change) {
        if (connection->closed || (change.node != nullptr) != (scope == ScopeOf::node)) return;
        constexpr std::size_t event_bytes = 1500;
        down(event_bytes, [on, change] { on->changed(change); });
      });
      if (*open) return {.status = ok};
      return {.status = gone};
    });
    if (!server_.is_down()) traffic_.note(RequestKind::watch, request_bytes + size_of(first));
    if (first.status != ok) return down(size_of(first), [fail, first] { fail(first); });
    down(size_of(first), [on] { on->opened(); });
    server_.deliver_since(**open, version);
    const auto end = [=, this] {
      server_.close(*open);
      down(0, [connection, on] {
        if (!std::exchange(connection->closed, true)) on->ended();
      });
    };
    const auto end_quietly = [=, this] {
      down(150, [on, seen = server_.version()] { on->bookmark(seen); });
      end();
    };
    engine_.after(timeout, [=, this] {
      if (!link_.quiet().is_on() || connection->closed) return end();
      link_.quiet().put_off(token, end_quietly);
    });
    for (Duration at = bookmark_interval; at < timeout; at += bookmark_interval) {
      engine_.after(at, [=, this] {
        if (connection->closed || (*open)->silent || server_.is_silent()) return;
        if (link_.quiet().is_on()) return;
        const std::uint64_t seen = server_.version();
        down(150, [on, seen] { on->bookmark(seen); });
      });
    }
  });
  return connection;
}

}  // namespace holdfast::agent::lab::sim
