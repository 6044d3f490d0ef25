#include "agent/node/lease_renewer.h"

#include <algorithm>

#include "platform/log.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/wire/codec.h"

namespace holdfast::agent::node {
namespace {

constexpr std::string_view collection =
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
constexpr auto lease_request_limit =
    std::chrono::seconds(10);  // as the kubelet's heartbeat requests
// The pause after a failure: doubled each time, up to the kubelet's longest.
constexpr Duration retry_min = std::chrono::seconds(1);
constexpr Duration retry_max = std::chrono::seconds(7);

}  // namespace

LeaseRenewer::LeaseRenewer(LeaseSettings settings, ApiCaller& caller, const Clock& clock)
    : settings_(std::move(settings)),
      caller_(caller),
      clock_(clock),
      target_(std::string(collection) + "/" + percent_encode(settings_.node_name)) {}

asio::awaitable<void> LeaseRenewer::run() {
  Duration retry = retry_min;
  for (;;) {
    const Status renewed = co_await renew();
    if (!renewed) log_info("lease not renewed", {{"error", renewed.error()}});
    const Duration pause = renewed ? settings_.interval : std::min(retry, settings_.interval);
    retry = renewed ? retry_min : std::min(retry * 2, retry_max);
    co_await loop::sleep_until(clock_.mono() + pause);
  }
}

asio::awaitable<Status> LeaseRenewer::read() {
  ApiRequest get{.target = target_};
  const auto known = co_await caller_.call(std::move(get), clock_.mono() + lease_request_limit);
  Status done;
  if (!known && known.error().code == Errc::not_found) co_return done;
  if (!known) co_return fail("read lease", known.error());
  CO_TRY(lease_, sync::wire::decode_bytes<sync::Lease>(*known));
  co_return done;
}

asio::awaitable<Status> LeaseRenewer::renew() {
  if (!lease_) {
    Status read_now = co_await read();
    if (!read_now) co_return read_now;
  }
  const bool is_new = !lease_;
  sync::Lease lease = lease_.value_or(sync::Lease());
  lease_.reset();  // Read it again unless the write below succeeds.
  lease.metadata.name = settings_.node_name;
  lease.metadata.namespace_name = "kube-node-lease";
  lease.spec.holder_identity = settings_.node_name;
  lease.spec.lease_duration_seconds = static_cast<std::int32_t>(
      std::chrono::duration_cast<std::chrono::seconds>(settings_.duration).count());
  lease.spec.renew_time = std::chrono::floor<std::chrono::microseconds>(clock_.wall());
  ApiRequest write{.method = is_new ? http::Method::post : http::Method::put,
                   .target = is_new ? std::string(collection) : target_,
                   .body = sync::wire::encode_bytes(lease)};
  const auto written = co_await caller_.call(std::move(write), clock_.mono() + lease_request_limit);
  if (!written) co_return fail("write lease", written.error());
  CO_TRY(lease_, sync::wire::decode_bytes<sync::Lease>(*written));
  Status done;
  co_return done;
}

}  // namespace holdfast::agent::node
