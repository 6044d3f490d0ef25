#include "agent/cloud/scheduler/scheduler_writer.h"

#include <boost/json/object.hpp>

#include "platform/log.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/wire/codec.h"

namespace holdfast::agent {

namespace json = boost::json;
namespace schedule = sync::schedule;
using schedule::PodKey;

namespace {

constexpr Duration request_limit = std::chrono::seconds(10);
constexpr int bind_tries = 5;
constexpr Duration bind_pause = std::chrono::milliseconds(100);
// As upstream's util.PatchPodStatus: pauses of 10 ms, 50 ms, 250 ms, with 10% jitter.
constexpr int patch_tries = 4;
constexpr Duration patch_pause = std::chrono::milliseconds(10);

std::string pod_path(const PodKey& pod) {
  return "/api/v1/namespaces/" + percent_encode(pod.namespace_name) + "/pods/" +
         percent_encode(pod.name);
}

// A status patch that conflicts if the name belongs to another pod by now.
ApiRequest status_patch(const PodKey& pod, const std::string& body) {
  auto read = sync::wire::parse_json(body);
  json::object whole = read && read->is_object() ? read->get_object() : json::object();
  whole["metadata"] = json::object{{"uid", pod.uid}};
  ApiRequest request{.method = http::Method::patch, .target = pod_path(pod) + "/status"};
  request.body = sync::wire::serialize(whole);
  request.content_type = "application/strategic-merge-patch+json";
  return request;
}

}  // namespace

ApiRequest bind_pod(const PodKey& pod, const std::string& node) {
  const json::object body{
      {"kind", "Binding"},
      {"apiVersion", "v1"},
      {"metadata", {{"name", pod.name}, {"namespace", pod.namespace_name}, {"uid", pod.uid}}},
      {"target", {{"kind", "Node"}, {"name", node}}}};
  ApiRequest request{.method = http::Method::post, .target = pod_path(pod) + "/binding"};
  request.body = sync::wire::serialize(body);
  return request;
}

ApiRequest patch_status(const schedule::PatchPodStatus& patch) {
  return status_patch(patch.pod, schedule::patch_body(patch));
}

ApiRequest clear_nomination(const schedule::ClearNomination& clear) {
  return status_patch(clear.pod, schedule::patch_body(clear));
}

ApiRequest delete_victim(const schedule::DeletePod& deletion) {
  const json::object body{{"kind", "DeleteOptions"},
                          {"apiVersion", "v1"},
                          {"preconditions", {{"uid", deletion.pod.uid}}}};
  ApiRequest request{.method = http::Method::remove, .target = pod_path(deletion.pod)};
  request.body = sync::wire::serialize(body);
  return request;
}

ApiRequest bind_volume(const schedule::BindVolume& binding) {
  const schedule::ClaimRef& claim = binding.claim;
  json::object metadata{{"uid", binding.uid}, {"resourceVersion", binding.version}};
  if (!binding.was_reserved) {
    metadata["annotations"] = json::object{{"pv.kubernetes.io/bound-by-controller", "yes"}};
  }
  const json::object reference{
      {"kind", "PersistentVolumeClaim"}, {"apiVersion", "v1"}, {"namespace", claim.name.first},
      {"name", claim.name.second},       {"uid", claim.uid},   {"resourceVersion", claim.version}};
  json::object body;
  body["metadata"] = std::move(metadata);
  body["spec"] = json::object{{"claimRef", reference}};
  ApiRequest request{.method = http::Method::patch,
                     .target = "/api/v1/persistentvolumes/" + percent_encode(binding.volume)};
  request.body = sync::wire::serialize(body);
  request.content_type = "application/merge-patch+json";
  return request;
}

ApiRequest select_node(const schedule::SelectNode& selection) {
  const schedule::ClaimRef& claim = selection.claim;
  const json::object body{
      {"metadata",
       {{"uid", claim.uid},
        {"resourceVersion", claim.version},
        {"annotations", {{"volume.kubernetes.io/selected-node", selection.node}}}}}};
  ApiRequest request{.method = http::Method::patch,
                     .target = "/api/v1/namespaces/" + percent_encode(claim.name.first) +
                               "/persistentvolumeclaims/" + percent_encode(claim.name.second)};
  request.body = sync::wire::serialize(body);
  request.content_type = "application/merge-patch+json";
  return request;
}

asio::awaitable<Status> SchedulerWriter::send(ApiRequest request) {
  const MonoTime deadline = clock_.mono() + request_limit;
  const auto answer = co_await client_.call(std::move(request), deadline);
  Status sent;
  if (!answer) sent = fail(answer.error());
  co_return sent;
}

asio::awaitable<Status> SchedulerWriter::bind_once(PodKey pod, std::string node) {
  ApiRequest request = bind_pod(pod, node);
  co_return co_await send(std::move(request));
}

// Reads the pod after a failed binding: whether it is bound to `node` nevertheless. False: not
// bound yet, try again. Errors: `why` if trying again is useless; not_found.
asio::awaitable<Result<bool>> SchedulerWriter::bound_already(PodKey pod, std::string node,
                                                             Error why) {
  ApiRequest read{.target = pod_path(pod)};
  const MonoTime deadline = clock_.mono() + request_limit;
  const auto body = co_await client_.call(std::move(read), deadline);
  if (!body && body.error().code == Errc::not_found) co_return fail(body.error());
  if (!body) co_return fail(why);
  const sync::wire::DecodeOptions lean{.keep_untouched = false, .keep_managed_fields = false};
  const auto found = sync::wire::decode_bytes<sync::Pod>(*body, lean);
  if (!found) co_return fail(why);
  if (found->metadata.uid != pod.uid) {
    why.code = Errc::not_found;
    co_return fail(why);
  }
  const bool elsewhere = !found->spec.node_name.empty() && found->spec.node_name != node;
  if (elsewhere || found->metadata.deletion_timestamp) {
    why.code = Errc::conflict;
    co_return fail(why);
  }
  Result<bool> bound = !found->spec.node_name.empty();
  co_return bound;
}

asio::awaitable<Status> SchedulerWriter::bind(PodKey pod, std::string node) {
  for (int attempt = 1;; ++attempt) {
    Status sent = co_await bind_once(pod, node);
    if (sent) co_return sent;
    const Errc code = sent.error().code;
    const bool unclear =
        code == Errc::conflict || code == Errc::timeout || code == Errc::unavailable;
    if (!unclear || attempt == bind_tries) co_return sent;
    const auto already = co_await bound_already(pod, node, sent.error());
    if (!already) co_return fail(already.error());
    Status done;
    if (*already) co_return done;
    log_debug("binding failed, retrying", {{"pod", pod.name}, {"error", sent.error()}});
    co_await loop::sleep_until(clock_.mono() + bind_pause + random_.jitter(bind_pause));
  }
}

asio::awaitable<Status> SchedulerWriter::write(ApiRequest request) {
  Duration pause = patch_pause;
  for (int attempt = 1;; ++attempt) {
    ApiRequest copy = request;
    Status sent = co_await send(std::move(copy));
    if (sent) co_return sent;
    const Errc code = sent.error().code;
    if (code == Errc::unavailable && attempt < patch_tries) {
      co_await loop::sleep_until(clock_.mono() + pause + random_.jitter(pause / 10));
      pause *= 5;
      continue;
    }
    // Requests name the uid of their pod: a conflict means that the pod is gone.
    const bool gone = code == Errc::not_found || code == Errc::conflict || code == Errc::gone;
    if (!gone) log_warn("write failed", {{"target", request.target}, {"error", sent.error()}});
    co_return sent;
  }
}

}  // namespace holdfast::agent
