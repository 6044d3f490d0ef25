#include "agent/cloud/api_writer.h"

#include <utility>

#include "agent/cloud/attachments.h"
#include "agent/cloud/requests.h"
#include "platform/log.h"
#include "platform/loop/timer.h"
#include "sync/lifecycle/taints.h"
#include "sync/wire/codec.h"

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

}  // namespace

asio::awaitable<Outcome> ApiWriter::perform(lifecycle::Effect effect) {
  if (auto condition = lifecycle::condition_of(effect)) {
    Outcome checked = co_await check(*std::move(condition));
    if (!checked.ok()) co_return checked;
  }
  const auto perform_it = [this](auto& one) { return perform_one(std::move(one)); };
  co_return co_await std::visit(perform_it, effect);
}

// Ok if the node is as it must be; otherwise a conflict with its current state, or the error of the
// request.
asio::awaitable<Outcome> ApiWriter::check(lifecycle::NodeMustBe condition) {
  const auto found = co_await node(read_node(condition.name, true));
  if (!found) co_return failed(found.error());
  Outcome outcome;
  lifecycle::NodeFacts facts = lifecycle::facts_of(*found, options_);
  if (condition.holds(facts)) co_return outcome;
  log_warn("nothing forced: the node has changed, the watch lags behind",
           {{"node", condition.name},
            {"ready", facts.ready().status == lifecycle::Truth::yes},
            {"replaced", facts.uid != condition.uid}});
  outcome.error = Errc::conflict;
  outcome.node = std::move(facts);
  co_return outcome;
}

asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::PatchLabels effect) {
  return write(write_labels(effect), false);
}

asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::MarkPodNotReady effect) {
  return write(mark_not_ready(effect), true);
}

asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::MarkPodLost effect) {
  return write(mark_lost(effect), false);
}

asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::MarkPodDisrupted effect) {
  return write(mark_disrupted(effect), true);
}

asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::FailPod effect) {
  return write(fail_pod(effect), true);
}

asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::DeletePod effect) {
  const std::string_view doing = effect.forced ? "force delete pod" : "delete pod";
  log_info(doing, {{"pod", effect.pod.key()}, {"uid", effect.pod.uid}});
  return write(delete_pod(effect), false);
}

asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::DeleteNode effect) {
  log_warn("delete node, it does not exist in the cloud provider", {{"node", effect.node}});
  return write(delete_node(effect), false);
}

asio::awaitable<Result<std::string>> ApiWriter::send(ApiRequest request) {
  const MonoTime deadline = clock_.mono() + request_limit;
  co_return co_await client_.call(std::move(request), deadline);
}

asio::awaitable<Result<sync::Node>> ApiWriter::node(ApiRequest request) {
  CO_TRY(const std::string body, co_await send(std::move(request)));
  const sync::wire::DecodeOptions lean{.keep_untouched = false, .keep_managed_fields = false};
  co_return sync::wire::decode_bytes<sync::Node>(body, lean);
}

// Nothing if there is no Lease or it was never renewed.
asio::awaitable<Result<std::optional<WallTime>>> ApiWriter::renewal_of(std::string node) {
  std::optional<WallTime> none;
  const auto body = co_await send(read_lease(node));
  if (!body && body.error().code == Errc::not_found) co_return none;
  if (!body) co_return fail(body.error());
  CO_TRY(const sync::Lease lease, sync::wire::decode_bytes<sync::Lease>(*body));
  co_return lease.spec.renew_time;
}

asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::UpdateNodeStatus effect) {
  if (options_.node_leases) {
    const auto renewed = co_await renewal_of(effect.node);
    if (!renewed) co_return failed(renewed.error());
    if (*renewed && (!effect.renewed || **renewed > *effect.renewed)) {
      log_warn("node not marked Unknown: its lease was renewed, the watch lags behind",
               {{"node", effect.node}});
      Outcome alive;
      alive.error = Errc::conflict;
      alive.renewed = *renewed;
      co_return alive;
    }
  }
  log_info("mark node unknown", {{"node", effect.node}});
  auto written = co_await node(write_conditions(effect));
  Outcome outcome;
  if (!written) {
    log_warn("node status not written", {{"node", effect.node}, {"error", written.error()}});
    outcome.error = written.error().code;
    if (outcome.error != Errc::conflict) co_return outcome;
    written = co_await node(read_node(effect.node, true));
  }
  if (written) outcome.node = lifecycle::facts_of(*written, options_);
  co_return outcome;
}

asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::PatchTaints effect) {
  bool live = false;
  for (int attempt = 1;; ++attempt) {
    Result<TaintsSeen> seen = fail(Errc::not_found, "not read");
    const bool decided_on = attempt == 1 && effect.seen;
    if (decided_on) {
      seen = *effect.seen;
    } else {
      seen = co_await read_taints(effect.node, effect.uid, std::exchange(live, true));
    }
    if (!seen) co_return failed(seen.error());
    const auto taints = lifecycle::taints_after(seen->taints, effect);
    Outcome outcome;
    if (taints == seen->taints) co_return outcome;
    const auto written = co_await node(write_taints(effect.node, seen->resource_version, taints));
    if (written) {
      log_info("taints written", {{"node", effect.node}, {"taints", taints.size()}});
      outcome.node = lifecycle::facts_of(*written, options_);
      co_return outcome;
    }
    const bool final = written.error().code != Errc::conflict || attempt == taint_tries;
    if (final) {
      log_warn("taints not written", {{"node", effect.node}, {"error", written.error()}});
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

asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::EvictPod effect) {
  log_info("evict pod", {{"pod", effect.pod.key()}, {"uid", effect.pod.uid}});
  const auto answer = co_await send(evict_pod(effect));
  Outcome outcome;
  if (answer) co_return outcome;
  outcome.error = answer.error().code;
  if (outcome.error == Errc::exhausted) {
    log_info("eviction refused for now",
             {{"pod", effect.pod.key()}, {"reason", answer.error().what}});
  } else if (outcome.error != Errc::not_found) {
    log_warn("eviction failed", {{"pod", effect.pod.key()}, {"error", answer.error()}});
  }
  co_return outcome;
}

// Decided on the pod as it is, so that what others wrote meanwhile stays.
asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::BindPod effect) {
  for (int attempt = 1;; ++attempt) {
    const auto body = co_await send(read_pod(effect.pod));
    if (!body) co_return failed(body.error());
    const auto pod = sync::wire::decode_bytes<sync::Pod>(*body);
    if (!pod) co_return failed(pod.error());
    Outcome outcome;
    if (pod->metadata.uid != effect.pod.uid) outcome.error = Errc::not_found;
    const auto binding =
        lifecycle::bind_pod(effect.autonomy, pod->spec.tolerations, pod->metadata.annotations);
    if (outcome.error || !binding.changed) co_return outcome;
    outcome =
        co_await write(write_binding(effect.pod, pod->metadata.resource_version, binding), false);
    if (outcome.error != Errc::conflict || attempt == taint_tries) co_return outcome;
    co_await loop::sleep_until(clock_.mono() + taint_pause + random_.jitter(taint_pause));
  }
}

asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::DetachVolumes effect) {
  const auto body = co_await send(list_attachments());
  // A server without the storage API has no attached volumes.
  Outcome outcome;
  if (!body && body.error().code == Errc::not_found) co_return outcome;
  if (!body) co_return failed(body.error());
  const auto found = attachments_of(*body, effect.node.name);
  if (!found) co_return failed(found.error());
  for (const Attachment& attachment : *found) {
    // Again, because the requests before this one may have taken minutes.
    const lifecycle::NodeMustBe condition{effect.node.name, effect.node.uid, true};
    const Outcome checked = co_await check(condition);
    if (!checked.ok()) co_return checked;
    log_warn("force detach volume", {{"node", effect.node.name}, {"attachment", attachment.name}});
    const Outcome one = co_await write(delete_attachment(attachment.name, attachment.uid), true);
    if (!one.ok() && one.error != Errc::not_found) outcome = one;
  }
  co_return outcome;
}

asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::AskProvider effect) {
  // Not unavailable: that would say that the API server does not answer.
  Outcome outcome;
  outcome.error = Errc::invalid;
  if (provider_ == nullptr) co_return outcome;
  const auto answer = co_await provider_->exists(effect.node, effect.provider_id);
  if (!answer) {
    log_warn("cloud provider does not answer", {{"node", effect.node}, {"error", answer.error()}});
    co_return outcome;
  }
  outcome.error.reset();
  outcome.exists = *answer;
  co_return outcome;
}

asio::awaitable<Outcome> ApiWriter::perform_one(lifecycle::RecordEvent event) {
  const Status sent = co_await events_.record(std::move(event));
  Outcome outcome;
  if (!sent) outcome.error = sent.error().code;
  co_return outcome;
}

}  // namespace holdfast::agent
