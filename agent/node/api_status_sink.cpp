#include "agent/node/api_status_sink.h"

#include "platform/text.h"
#include "sync/wire/codec.h"

namespace holdfast::agent::node {
namespace {

// The edge agent tries the cloud for 2 s before it accepts a write itself, and for 10 s if only the
// cloud can accept it.
constexpr Duration report_limit = std::chrono::seconds(15);

std::string path_of(const sync::runtime::PodKey& pod) {
  return "/api/v1/namespaces/" + percent_encode(pod.namespace_name) + "/pods/" +
         percent_encode(pod.name);
}

}  // namespace

asio::awaitable<Status> ApiStatusSink::send(ApiRequest request) {
  const auto answer = co_await caller_.call(std::move(request), clock_.mono() + report_limit);
  Status done;
  if (!answer) co_return fail(answer.error());
  co_return done;
}

asio::awaitable<Status> ApiStatusSink::report_status(sync::runtime::PodKey pod, std::string patch) {
  ApiRequest request{.method = http::Method::patch,
                     .target = path_of(pod) + "/status",
                     .body = std::move(patch),
                     .content_type = std::string(strategic_patch_type)};
  co_return co_await send(std::move(request));
}

asio::awaitable<Status> ApiStatusSink::record_event(sync::Event event) {
  const std::string space = percent_encode(event.metadata.namespace_name);
  ApiRequest request{.method = http::Method::post,
                     .target = "/api/v1/namespaces/" + space + "/events",
                     .body = sync::wire::encode_bytes(event)};
  co_return co_await send(std::move(request));
}

asio::awaitable<Status> ApiStatusSink::final_delete(sync::runtime::PodKey pod) {
  const sync::json::object options{{"kind", "DeleteOptions"},
                                   {"apiVersion", "v1"},
                                   {"gracePeriodSeconds", 0},
                                   {"preconditions", sync::json::object{{"uid", pod.uid}}}};
  ApiRequest request{.method = http::Method::remove,
                     .target = path_of(pod),
                     .body = sync::wire::serialize(options)};
  Status deleted = co_await send(std::move(request));
  if (!deleted && deleted.error().code == Errc::not_found) deleted = Status();
  co_return deleted;
}

}  // namespace holdfast::agent::node
