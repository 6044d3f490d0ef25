#include "agent/edge/offline/registration.h"

#include <algorithm>

#include "agent/edge/route/caller.h"
#include "platform/log.h"
#include "platform/scoped.h"
#include "sync/autonomy/registration.h"
#include "sync/events/event.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/protobuf/status.h"
#include "sync/wire/read.h"

namespace holdfast::agent {
namespace {

constexpr std::string_view registration_key = "registration";
constexpr auto request_limit = std::chrono::seconds(10);
const std::string nodes_path = "/api/v1/nodes";

}  // namespace

void Registration::note(const RoutedRequest& request, const http::Response& response) {
  const bool exists = response.status == 201 || response.status == 409;
  if (!exists || request.caller.owner != node_owner) return;
  // A process of the node may create another Node, if the API server lets it.
  const auto header = sync::wire::read_any_header(request.http.body);
  if (!header || header->name != node_name_) return;
  const store::Answer kept{.status = response.status,
                           .content_type = std::string(request.http.headers.get("content-type")),
                           .bytes = request.http.body};
  if (auto put = answers_.put(node_owner, registration_key, kept); !put) {
    log_warn("registration not kept", {{"error", put.error()}});
  }
}

std::optional<ApiRequest> Registration::request_of(const std::string& known) {
  ApiRequest request{.method = http::Method::post, .target = nodes_path};
  const auto kept = answers_.find(node_owner, registration_key);
  if (kept && *kept) {
    request.body = (*kept)->bytes;
    request.content_type = (*kept)->content_type;
    return request;
  }
  const auto node = sync::wire::parse_json(known);
  if (!node || !node->is_object()) return std::nullopt;
  request.body = sync::wire::serialize(sync::autonomy::registration_of(node->get_object()));
  return request;
}

bool Registration::is_queued() {
  const store::ObjectKey node{.version = "v1", .resource = "nodes", .name = node_name_};
  const auto pending = offline_store_.pending(node);
  return pending && std::any_of(pending->begin(), pending->end(), [](const store::Entry& entry) {
           return entry.write.verb == "POST";
         });
}

void Registration::tell(const std::string& what) {
  if (what == told_) return;
  told_ = what;
  log_warn(what, {{"node", node_name_}});
  offline_store_.record("node", "nodes/" + node_name_, what);
  last_ = format_rfc3339(clock_.wall()) + ": " + what;
}

asio::awaitable<Result<bool>> Registration::repeat(std::string known) {
  if (is_queued()) {
    tell("the cloud deleted this node; the kubelet's new registration is sent");
    co_return true;
  }
  if (under_way_) co_return true;
  const ScopedValue registering(under_way_, true);
  auto request = request_of(known);
  if (!request) {
    // A node that starts for the first time.
    offline_store_.record("node", "nodes/" + node_name_, "the API server has no Node of this name");
    co_return true;
  }
  const auto answer = co_await uplink_.send(*std::move(request), false, request_limit);
  if (!answer || answer->status != 201) {
    const Error why = answer ? sync::wire::to_error(answer->status, answer->body) : answer.error();
    tell("the cloud deleted this node, and does not let it register again: " + why.what);
    co_return false;
  }
  told_.clear();
  tell("the cloud deleted this node; it was registered again");
  co_await send_event();
  const Status dropped = offline_store_.drop_superseded({.is_resource = true,
                                                         .version = "v1",
                                                         .resource = "nodes",
                                                         .subresource = "status",
                                                         .name = node_name_});
  if (!dropped) co_return fail(dropped.error());
  co_return true;
}

asio::awaitable<void> Registration::send_event() {
  const std::string now = format_rfc3339(clock_.wall());
  const sync::events::EventRequest event = sync::events::create_event(
      {.name = sync::events::event_name(node_name_, random_.next()),
       .namespace_name = "default",
       .about = {.kind = "Node", .namespace_name = "", .name = node_name_, .uid = node_name_},
       .warning = true,
       .reason = "RegisteredAgain",
       .message = "The cloud deleted this node while it was cut off; it was registered again",
       .component = "holdfast-edge",
       .first = now,
       .last = now});
  ApiRequest request{.method = http::Method::post, .target = event.path, .body = event.body};
  const auto sent = co_await uplink_.call(std::move(request), request_limit);
  if (!sent) log_info("event not sent", {{"error", sent.error()}});
}

}  // namespace holdfast::agent
