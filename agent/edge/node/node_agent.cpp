#include "agent/edge/node/node_agent.h"

#include <filesystem>

#include "platform/log.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/api/codec.h"
#include "sync/api/status.h"
#include "sync/protobuf/status.h"

namespace holdfast::agent {
namespace {

// kubelet's nodeStatusReportFrequency: how often a status is posted that says nothing new.
constexpr auto report_interval = std::chrono::minutes(5);
constexpr auto register_retry = std::chrono::seconds(1);
constexpr std::string_view strategic_type = "application/strategic-merge-patch+json";

std::string pod_path(const sync::PodKey& pod) {
  return "/api/v1/namespaces/" + percent_encode(pod.namespace_name) + "/pods/" +
         percent_encode(pod.name);
}

}  // namespace

Result<std::string> body_of(http::Response response) {
  if (response.status >= 200 && response.status < 300) return std::move(response.body);
  return fail(sync::to_error(response.status, response.body));
}

NodeAgent::NodeAgent(const EdgeOptions& options, Scopes& scopes, LocalApi& api, const Clock& clock,
                     sync::Node node)
    : options_(options),
      api_(api),
      clock_(clock),
      node_(std::move(node)),
      pods_(options.node_name, scopes) {}

Result<std::unique_ptr<NodeAgent>> NodeAgent::make(asio::any_io_executor executor,
                                                   const EdgeOptions& options, Scopes& scopes,
                                                   LocalApi& api, const Clock& clock) {
  TRY(sync::Node node,
      make_node(options.node_name, read_machine(), options.node_labels, clock.wall()));
  std::unique_ptr<NodeAgent> made(new NodeAgent(options, scopes, api, clock, std::move(node)));
  ProcessRuntimeConfig config{.dir = std::filesystem::path(options.data_dir) / "runtime"};
  config.rules.node.node_name = options.node_name;
  TRY(made->runtime_,
      ProcessRuntime::open(std::move(executor), std::move(config), made->pods_, *made, clock));
  return made;
}

asio::awaitable<void> NodeAgent::run_pods() { return runtime_->run(); }

asio::awaitable<void> NodeAgent::post_status() {
  for (;;) {
    const Status registered = co_await register_node();
    if (registered) break;
    log_info("node not registered yet", {{"error", registered.error()}});
    co_await loop::sleep_until(clock_.mono() + register_retry);
  }
  for (;;) {
    const Status posted = co_await post_once();
    if (!posted) log_info("node status not posted", {{"error", posted.error()}});
    co_await loop::sleep_until(clock_.mono() + options_.status_interval);
  }
}

asio::awaitable<Status> NodeAgent::register_node() {
  ApiRequest request{
      .method = http::Method::post, .target = "/api/v1/nodes", .body = sync::encode_bytes(node_)};
  auto answer = body_of(co_await api_.ask(std::move(request)));
  Status done;
  const bool known = !answer && answer.error().code == Errc::conflict;
  if (!answer && !known) co_return fail("register", answer.error());
  if (answer) log_info("node registered", {{"node", options_.node_name}});
  co_return done;
}

asio::awaitable<Status> NodeAgent::post_once() {
  ApiRequest get{.target =
                     "/api/v1/nodes/" + percent_encode(options_.node_name) + "?resourceVersion=0"};
  auto answer = body_of(co_await api_.ask(std::move(get)));
  if (!answer && answer.error().code == Errc::not_found) co_return co_await register_node();
  if (!answer) co_return fail("read node", answer.error());
  CO_TRY(const sync::Node seen, sync::decode_bytes<sync::Node>(*answer));
  const bool due = posted_at_ == MonoTime::min() || clock_.mono() - posted_at_ >= report_interval;
  Status done;
  if (!due && !needs_status(seen, node_.status)) co_return done;
  ApiRequest patch{.method = http::Method::patch,
                   .target = "/api/v1/nodes/" + percent_encode(options_.node_name) + "/status",
                   .body = status_patch(seen, node_.status, clock_.wall()),
                   .content_type = std::string(strategic_type)};
  auto patched = body_of(co_await api_.ask(std::move(patch)));
  if (!patched) co_return fail("post node status", patched.error());
  posted_at_ = clock_.mono();
  co_return done;
}

asio::awaitable<Status> NodeAgent::report_status(sync::PodKey pod, std::string patch) {
  ApiRequest request{.method = http::Method::patch,
                     .target = pod_path(pod) + "/status",
                     .body = std::move(patch),
                     .content_type = std::string(strategic_type)};
  auto answer = body_of(co_await api_.ask(std::move(request)));
  Status done;
  if (!answer) co_return fail(answer.error());
  co_return done;
}

asio::awaitable<Status> NodeAgent::record_event(sync::Event event) {
  const std::string space = percent_encode(event.metadata.namespace_name);
  ApiRequest request{.method = http::Method::post,
                     .target = "/api/v1/namespaces/" + space + "/events",
                     .body = sync::encode_bytes(event)};
  auto answer = body_of(co_await api_.ask(std::move(request)));
  Status done;
  if (!answer) co_return fail(answer.error());
  co_return done;
}

asio::awaitable<Status> NodeAgent::final_delete(sync::PodKey pod) {
  ApiRequest request{.method = http::Method::remove,
                     .target = pod_path(pod),
                     .body = sync::serialize(sync::json::object{
                         {"kind", "DeleteOptions"},
                         {"apiVersion", "v1"},
                         {"gracePeriodSeconds", 0},
                         {"preconditions", sync::json::object{{"uid", pod.uid}}}})};
  auto answer = body_of(co_await api_.ask(std::move(request)));
  Status done;
  if (!answer && answer.error().code != Errc::not_found) co_return fail(answer.error());
  co_return done;
}

}  // namespace holdfast::agent
