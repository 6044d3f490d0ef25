#include "agent/cloud/api_writer.h"

#include <utility>

#include "agent/cloud/attachments.h"
#include "agent/cloud/requests.h"
#include "platform/log.h"
#include "platform/loop/timer.h"
#include "sync/api/codec.h"
#include "sync/lifecycle/taints.h"

namespace holdfast::agent {

namespace lifecycle = sync::lifecycle;
using lifecycle::Outcome;
using lifecycle::TaintsSeen;

namespace {

constexpr Duration request_limit = std::chrono::seconds(10);
// As upstream: five attempts, 100 to 200 ms apart.
constexpr int taint_tries = 5;
constexpr Duration taint_pause = std::chrono::milliseconds(100);

Outcome failed(const Error& error) {
  Outcome outcome;
  outcome.error = error.code;
  return outcome;
}

struct SingleWrite {
  ApiRequest request;
  bool of_pod = false;  // a conflict means that the pod is gone
};

// The request of an action that needs only one; nothing for all others.
std::optional<SingleWrite> single_write(const lifecycle::Action& action) {
  if (const auto* labels = std::get_if<lifecycle::PatchLabels>(&action)) {
    return SingleWrite{write_labels(*labels), false};
  }
  if (const auto* mark = std::get_if<lifecycle::MarkPodNotReady>(&action)) {
    return SingleWrite{mark_not_ready(*mark), true};
  }
  if (const auto* lost = std::get_if<lifecycle::MarkPodLost>(&action)) {
    return SingleWrite{mark_lost(*lost), false};
  }
  if (const auto* disrupted = std::get_if<lifecycle::MarkPodDisrupted>(&action)) {
    return SingleWrite{mark_disrupted(*disrupted), true};
  }
  if (const auto* failing = std::get_if<lifecycle::FailPod>(&action)) {
    return SingleWrite{fail_pod(*failing), true};
  }
  if (const auto* deletion = std::get_if<lifecycle::DeletePod>(&action)) {
    const std::string_view doing = deletion->forced ? "delete pod by force" : "delete pod";
    log_info(doing, {{"pod", deletion->pod.key()}, {"uid", deletion->pod.uid}});
    return SingleWrite{delete_pod(*deletion), false};
  }
  if (const auto* gone = std::get_if<lifecycle::DeleteNode>(&action)) {
    log_warn("delete node, its machine no longer exists", {{"node", gone->node}});
    return SingleWrite{delete_node(*gone), false};
  }
  return std::nullopt;
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
  if (auto* eviction = std::get_if<lifecycle::EvictPod>(&action)) {
    co_return co_await evict(std::move(*eviction));
  }
  if (auto* binding = std::get_if<lifecycle::BindPod>(&action)) {
    co_return co_await bind(std::move(*binding));
  }
  if (auto* detaching = std::get_if<lifecycle::DetachVolumes>(&action)) {
    co_return co_await detach(std::move(*detaching));
  }
  if (auto* question = std::get_if<lifecycle::AskProvider>(&action)) {
    co_return co_await ask_provider(std::move(*question));
  }
  auto single = single_write(action);
  if (single) co_return co_await write(std::move(single->request), single->of_pod);
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

// Nothing if there is no Lease or it was never renewed.
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
      log_warn("node not marked unknown, its lease was renewed", {{"node", action.node}});
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
    // The rules decide again on the current node.
    written = co_await node(read_node(action.node, true));
  }
  if (written) outcome.node = lifecycle::facts_of(*written, options_);
  co_return outcome;
}

// The first attempt uses the taints of the decision, if there are any; then the node is read, live
// after a conflict. A conflict after a fresh read waits before the next attempt.
asio::awaitable<Outcome> ApiWriter::patch_taints(lifecycle::PatchTaints action) {
  bool live = false;
  for (int attempt = 1;; ++attempt) {
    Result<TaintsSeen> seen = fail(Errc::not_found, "not read");
    const bool decided_on = attempt == 1 && action.seen;
    if (decided_on) {
      seen = *action.seen;
    } else {
      seen = co_await read_taints(action.node, action.uid, std::exchange(live, true));
    }
    if (!seen) co_return failed(seen.error());
    const auto taints = lifecycle::taints_after(seen->taints, action);
    Outcome outcome;
    if (taints == seen->taints) co_return outcome;
    const auto written = co_await node(write_taints(action.node, seen->resource_version, taints));
    if (written) {
      log_info("taints written", {{"node", action.node}, {"taints", taints.size()}});
      outcome.node = lifecycle::facts_of(*written, options_);
      co_return outcome;
    }
    const bool final = written.error().code != Errc::conflict || attempt == taint_tries;
    if (final) {
      log_warn("taints not written", {{"node", action.node}, {"error", written.error()}});
      co_return failed(written.error());
    }
    live = true;
    if (decided_on) continue;
    co_await loop::sleep_until(clock_.mono() + taint_pause + random_.jitter(taint_pause));
  }
}

// Errors: not_found, also if the name belongs to another node by now; those of the request.
asio::awaitable<Result<TaintsSeen>> ApiWriter::read_taints(std::string name, std::string uid,
                                                           bool live) {
  CO_TRY(sync::Node found, co_await node(read_node(name, live)));
  if (found.metadata.uid != uid) co_return fail(Errc::not_found, "another node " + name);
  TaintsSeen seen{found.metadata.resource_version, std::move(found.spec.taints)};
  co_return seen;
}

asio::awaitable<Outcome> ApiWriter::write(ApiRequest request, bool of_pod) {
  const std::string target = request.target;
  const auto answer = co_await send(std::move(request));
  Outcome outcome;
  if (answer) co_return outcome;
  outcome.error = answer.error().code;
  // The only precondition is the uid: a conflict means that this pod is gone.
  if (of_pod && outcome.error == Errc::conflict) outcome.error = Errc::not_found;
  if (outcome.error != Errc::not_found) {
    log_warn("write failed", {{"target", target}, {"error", answer.error()}});
  }
  co_return outcome;
}

asio::awaitable<Outcome> ApiWriter::evict(lifecycle::EvictPod action) {
  log_info("evict pod", {{"pod", action.pod.key()}, {"uid", action.pod.uid}});
  const auto answer = co_await send(evict_pod(action));
  Outcome outcome;
  if (answer) co_return outcome;
  outcome.error = answer.error().code;
  if (outcome.error == Errc::exhausted) {
    log_info("eviction refused for now",
             {{"pod", action.pod.key()}, {"reason", answer.error().what}});
  } else if (outcome.error != Errc::not_found) {
    log_warn("eviction failed", {{"pod", action.pod.key()}, {"error", answer.error()}});
  }
  co_return outcome;
}

// Reads the pod before each attempt, so that changes made by others are kept.
asio::awaitable<Outcome> ApiWriter::bind(lifecycle::BindPod action) {
  for (int attempt = 1;; ++attempt) {
    const auto body = co_await send(read_pod(action.pod));
    if (!body) co_return failed(body.error());
    const auto pod = sync::decode_bytes<sync::Pod>(*body);
    if (!pod) co_return failed(pod.error());
    Outcome outcome;
    if (pod->metadata.uid != action.pod.uid) outcome.error = Errc::not_found;
    const auto binding =
        lifecycle::bind_pod(action.autonomy, pod->spec.tolerations, pod->metadata.annotations);
    if (outcome.error || !binding.changed) co_return outcome;
    outcome =
        co_await write(write_binding(action.pod, pod->metadata.resource_version, binding), false);
    if (outcome.error != Errc::conflict || attempt == taint_tries) co_return outcome;
    co_await loop::sleep_until(clock_.mono() + taint_pause + random_.jitter(taint_pause));
  }
}

asio::awaitable<Outcome> ApiWriter::detach(lifecycle::DetachVolumes action) {
  const auto body = co_await send(list_attachments());
  // A server without the storage API has no attached volumes.
  Outcome outcome;
  if (!body && body.error().code == Errc::not_found) co_return outcome;
  if (!body) co_return failed(body.error());
  const auto found = attachments_of(*body, action.node);
  if (!found) co_return failed(found.error());
  for (const Attachment& attachment : *found) {
    log_warn("detach volume by force", {{"node", action.node}, {"attachment", attachment.name}});
    const Outcome one = co_await write(delete_attachment(attachment.name, attachment.uid), true);
    if (!one.ok() && one.error != Errc::not_found) outcome = one;
  }
  co_return outcome;
}

asio::awaitable<Outcome> ApiWriter::ask_provider(lifecycle::AskProvider action) {
  // Not Errc::unavailable, which would mean that the API server does not answer.
  Outcome outcome;
  outcome.error = Errc::invalid;
  if (provider_ == nullptr) co_return outcome;
  const auto answer = co_await provider_->exists(action.node, action.provider_id);
  if (!answer) {
    log_warn("provider query failed", {{"node", action.node}, {"error", answer.error()}});
    co_return outcome;
  }
  outcome.error.reset();
  outcome.exists = *answer;
  co_return outcome;
}

asio::awaitable<Outcome> ApiWriter::record(lifecycle::RecordEvent event) {
  const Status sent = co_await events_.record(std::move(event));
  Outcome outcome;
  if (!sent) outcome.error = sent.error().code;
  co_return outcome;
}

}  // namespace holdfast::agent
