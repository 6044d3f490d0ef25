#include "agent/node/node_reporter.h"

#include <algorithm>

#include "agent/node/api_status_sink.h"
#include "agent/node/node_status.h"
#include "platform/log.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/wire/codec.h"

namespace holdfast::agent::node {
namespace {

constexpr auto report_interval = std::chrono::minutes(5);  // for an unchanged status
// The pause after a failed registration: doubled each time, up to the kubelet's longest.
constexpr Duration register_pause_min = std::chrono::milliseconds(500);
constexpr Duration register_pause_max = std::chrono::seconds(7);
constexpr auto status_request_limit =
    std::chrono::seconds(10);  // as the kubelet's heartbeat requests

}  // namespace

NodeReporter::NodeReporter(sync::Node node, Duration interval, ApiCaller& caller,
                           const Pressure& pressure, const Clock& clock)
    : node_(std::move(node)),
      interval_(interval),
      caller_(caller),
      pressure_(pressure),
      clock_(clock),
      target_("/api/v1/nodes/" + percent_encode(node_.metadata.name)) {}

asio::awaitable<Result<std::string>> NodeReporter::call(ApiRequest request) {
  return caller_.call(std::move(request), clock_.mono() + status_request_limit);
}

asio::awaitable<void> NodeReporter::run() {
  for (Duration pause = register_pause_min;; pause = std::min(pause * 2, register_pause_max)) {
    const Status registered = co_await register_node();
    if (registered) break;
    log_info("node not registered yet", {{"error", registered.error()}});
    co_await loop::sleep_until(clock_.mono() + pause);
  }
  for (;;) {
    const Status posted = co_await post_once();
    if (!posted) log_info("node status not posted", {{"error", posted.error()}});
    co_await loop::sleep_until(clock_.mono() + interval_);
  }
}

asio::awaitable<Status> NodeReporter::register_node() {
  ApiRequest request{.method = http::Method::post,
                     .target = "/api/v1/nodes",
                     .body = sync::wire::encode_bytes(node_)};
  const auto answer = co_await call(std::move(request));
  // 409: the Node exists already.
  const bool is_known = !answer && answer.error().code == Errc::conflict;
  Status done;
  if (!answer && !is_known) co_return fail("register", answer.error());
  if (answer) log_info("node registered", {{"node", node_.metadata.name}});
  co_return done;
}

asio::awaitable<Status> NodeReporter::post_once() {
  ApiRequest get{.target = target_ + "?resourceVersion=0"};
  const auto answer = co_await call(std::move(get));
  if (!answer && answer.error().code == Errc::not_found) co_return co_await register_node();
  if (!answer) co_return fail("read node", answer.error());
  CO_TRY(const sync::Node seen, sync::wire::decode_bytes<sync::Node>(*answer));
  node_.status.conditions = conditions_under(pressure_.conditions());
  const bool is_due =
      posted_at_ == MonoTime::min() || clock_.mono() - posted_at_ >= report_interval;
  Status done;
  if (!is_due && !needs_status(seen, node_.status)) co_return done;
  ApiRequest patch{.method = http::Method::patch,
                   .target = target_ + "/status",
                   .body = status_patch(seen, node_.status, clock_.wall()),
                   .content_type = std::string(strategic_patch_type)};
  const auto patched = co_await call(std::move(patch));
  if (!patched) co_return fail("post node status", patched.error());
  posted_at_ = clock_.mono();
  co_return done;
}

}  // namespace holdfast::agent::node
