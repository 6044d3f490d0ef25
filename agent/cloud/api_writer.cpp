#include "agent/cloud/api_writer.h"

#include <utility>

#include "agent/cloud/requests.h"
#include "platform/log.h"
#include "platform/loop/timer.h"
#include "sync/api/codec.h"
#include "sync/lifecycle/taints.h"

namespace holdfast::agent {

namespace lifecycle = sync::lifecycle;
using lifecycle::Outcome;

namespace {

constexpr Duration request_limit = std::chrono::seconds(10);
// As upstream: five tries, 100 to 200 ms apart.
constexpr int taint_tries = 5;
constexpr Duration taint_pause = std::chrono::milliseconds(100);

Outcome failed(const Error& error) {
  Outcome outcome;
  outcome.error = error.code;
  return outcome;
}

}  // namespace

asio::awaitable<Outcome> ApiWriter::perform(lifecycle::Action action) {
  if (auto* update = std::get_if<lifecycle::UpdateNodeStatus>(&action)) {
    co_return co_await update_status(std::move(*update));
  }
  if (auto* taints = std::get_if<lifecycle::PatchTaints>(&action)) {
    co_return co_await patch_taints(std::move(*taints));
  }
  if (auto* event = std::get_if<lifecycle::RecordEvent>(&action)) {
    co_return co_await record(std::move(*event));
  }
  if (const auto* labels = std::get_if<lifecycle::PatchLabels>(&action)) {
    co_return co_await write(write_labels(*labels), false);
  }
  if (const auto* mark = std::get_if<lifecycle::MarkPodNotReady>(&action)) {
    co_return co_await write(mark_not_ready(*mark), true);
  }
  if (const auto* lost = std::get_if<lifecycle::MarkPodLost>(&action)) {
    co_return co_await write(mark_lost(*lost), false);
  }
  if (const auto* disrupted = std::get_if<lifecycle::MarkPodDisrupted>(&action)) {
    co_return co_await write(mark_disrupted(*disrupted), true);
  }
  if (const auto* deletion = std::get_if<lifecycle::DeletePod>(&action)) {
    log_info("delete pod", {{"pod", deletion->pod.key()}, {"uid", deletion->pod.uid}});
    co_return co_await write(delete_pod(*deletion), false);
  }
  Outcome unknown;
  unknown.error = Errc::invalid;
  co_return unknown;
}

asio::awaitable<Result<std::string>> ApiWriter::send(ApiRequest request) {
  const MonoTime deadline = clock_.mono() + request_limit;
  co_return co_await client_.call(std::move(request), deadline);
}

asio::awaitable<Result<sync::Node>> ApiWriter::node(ApiRequest request) {
  CO_TRY(const std::string body, co_await send(std::move(request)));
  const sync::DecodeOptions lean{.keep_untouched = false, .keep_managed_fields = false};
  co_return sync::decode_bytes<sync::Node>(body, lean);
}

// Nothing when there is no lease, or it was never renewed.
asio::awaitable<Result<std::optional<WallTime>>> ApiWriter::renewal_of(std::string node) {
  std::optional<WallTime> none;
  const auto body = co_await send(read_lease(node));
  if (!body && body.error().code == Errc::not_found) co_return none;
  if (!body) co_return fail(body.error());
  CO_TRY(const sync::Lease lease, sync::decode_bytes<sync::Lease>(*body));
  co_return lease.spec.renew_time;
}

asio::awaitable<Outcome> ApiWriter::update_status(lifecycle::UpdateNodeStatus action) {
  if (options_.node_leases) {
    const auto renewed = co_await renewal_of(action.node);
    if (!renewed) co_return failed(renewed.error());
    if (*renewed && (!action.renewed || **renewed > *action.renewed)) {
      log_warn("node is alive, our watch is late", {{"node", action.node}});
      Outcome alive;
      alive.error = Errc::conflict;
      alive.renewed = *renewed;
      co_return alive;
    }
  }
  log_info("mark node unknown", {{"node", action.node}});
  auto written = co_await node(write_conditions(action));
  Outcome outcome;
  if (!written) {
    log_warn("node status not written", {{"node", action.node}, {"error", written.error()}});
    outcome.error = written.error().code;
    written = co_await node(read_node(action.node, true));
  }
  if (written) outcome.node = lifecycle::facts_of(*written, options_);
  co_return outcome;
}

asio::awaitable<Outcome> ApiWriter::patch_taints(lifecycle::PatchTaints action) {
  for (int attempt = 1;; ++attempt) {
    const auto found = co_await node(read_node(action.node, attempt > 1));
    if (!found) co_return failed(found.error());
    if (found->metadata.uid != action.uid) {
      Outcome another;
      another.error = Errc::not_found;
      co_return another;
    }
    const auto taints = lifecycle::taints_after(found->spec.taints, action);
    Outcome outcome;
    if (taints == found->spec.taints) co_return outcome;
    const auto written =
        co_await node(write_taints(action.node, found->metadata.resource_version, taints));
    if (written) {
      log_info("taints written", {{"node", action.node}, {"taints", taints.size()}});
      outcome.node = lifecycle::facts_of(*written, options_);
      co_return outcome;
    }
    if (written.error().code != Errc::conflict || attempt == taint_tries) {
      log_warn("taints not written", {{"node", action.node}, {"error", written.error()}});
      co_return failed(written.error());
    }
    co_await loop::sleep_until(clock_.mono() + taint_pause + random_.jitter(taint_pause));
  }
}

asio::awaitable<Outcome> ApiWriter::write(ApiRequest request, bool of_pod) {
  const std::string target = request.target;
  const auto answer = co_await send(std::move(request));
  Outcome outcome;
  if (answer) co_return outcome;
  outcome.error = answer.error().code;
  // We name the pod by uid only: a conflict means that this one is gone.
  if (of_pod && outcome.error == Errc::conflict) outcome.error = Errc::not_found;
  if (outcome.error != Errc::not_found) {
    log_warn("write failed", {{"target", target}, {"error", answer.error()}});
  }
  co_return outcome;
}

asio::awaitable<Outcome> ApiWriter::record(lifecycle::RecordEvent event) {
  const Status sent = co_await events_.record(std::move(event));
  Outcome outcome;
  if (!sent) outcome.error = sent.error().code;
  co_return outcome;
}

}  // namespace holdfast::agent
