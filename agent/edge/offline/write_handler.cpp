#include "agent/edge/offline/write_handler.h"

#include "agent/edge/forward/unavailable.h"
#include "agent/edge/route/answer.h"
#include "platform/check.h"
#include "platform/log.h"
#include "sync/autonomy/admit.h"
#include "sync/autonomy/local_form.h"
#include "sync/autonomy/local_write.h"
#include "sync/wire/object_header.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/header.h"
#include "sync/wire/read.h"

namespace holdfast::agent {
namespace {

// The answer if our own disk failed: nothing was accepted.
http::Response not_accepted(const Error& error) {
  log_error("write not accepted", {{"error", error}});
  if (error.code != Errc::exhausted) return to_response(sync::wire::status::from_error(error));
  sync::wire::ApiStatus full = sync::wire::status::generic(507);
  full.message = "the write could not be kept for the cloud: " + error.what;
  return to_response(full);
}

// An answer with the body `json` in the encoding that the client prefers.
http::Response in_wanted_encoding(const sync::wire::Accept& accept, int status, std::string json) {
  const auto encoding = accept.encoding();
  if (encoding == sync::wire::Encoding::protobuf) {
    if (auto body = sync::autonomy::body_in(*encoding, json)) {
      http::Response response{.status = status, .body = *std::move(body)};
      response.headers.set("Content-Type", std::string(sync::wire::content_type(*encoding)));
      return response;
    }
  }
  return json_response(status, std::move(json) + "\n");
}

// The refusal for a caller with its own credentials while the cloud is unreachable: the agent
// cannot check them, and accepted writes are sent with the node's credentials.
http::Response unknown_credentials(const Uplink& uplink) {
  return unavailable(uplink, "only the API server can check these credentials");
}

// The body of a write as JSON, which the rules read, and its content type.
struct JsonBody {
  std::string bytes;
  std::string_view content_type;
};

Result<JsonBody> json_body_of(const http::Request& request) {
  if (!sync::wire::is_protobuf(request.body)) {
    return JsonBody{request.body, request.headers.get("content-type")};
  }
  TRY(std::string json, sync::autonomy::body_as_json(request.body));
  return JsonBody{std::move(json), "application/json"};
}

}  // namespace

WriteHandler::WriteHandler(std::string node_name, const Deadlines& deadlines, Scopes& scopes,
                           ScopeContent& content, LocalVersions& versions, Uplink& uplink,
                           OfflineStore& offline_store, NodeLease& lease, Forwarder& forwarder,
                           AnswerCache& answer_cache, Registration& registration,
                           const Clock& clock, Random& random)
    : node_name_(std::move(node_name)),
      deadlines_(deadlines),
      scopes_(scopes),
      content_(content),
      versions_(versions),
      uplink_(uplink),
      offline_store_(offline_store),
      lease_(lease),
      forwarder_(forwarder),
      answer_cache_(answer_cache),
      registration_(registration),
      clock_(clock),
      random_(random),
      tokens_(deadlines, uplink, forwarder, answer_cache, offline_store, clock) {}

asio::awaitable<http::Response> WriteHandler::serve(const RoutedRequest& request) {
  const sync::objects::RequestInfo& info = request.info;
  // A dry run neither renews a lease nor stores a token, and changes nothing here.
  const bool dry_run = sync::autonomy::is_dry_run(info, request.http.body);
  sync::autonomy::Admission admission =
      dry_run ? sync::autonomy::Admission::refuse : sync::autonomy::admit(info, node_name_);
  const bool is_node = request.caller.owner == node_owner;
  // Only the node itself counts as its kubelet: others, such as a problem detector, may also write
  // a node's status.
  if (admission == sync::autonomy::Admission::node_status && is_node)
    lease_.note_kubelet_activity();
  if (admission == sync::autonomy::Admission::own_lease) {
    const bool ours = is_our_lease(request.http);
    if (ours && is_node) co_return answer_lease(request);
    if (ours) co_return co_await pass_lease(request);
    admission = sync::autonomy::Admission::refuse;
  }
  if (admission == sync::autonomy::Admission::token) co_return co_await tokens_.serve(request);
  const bool acceptable = admission != sync::autonomy::Admission::refuse;
  if (is_node && acceptable && admission != sync::autonomy::Admission::event) {
    co_await wait_for_end_of_rejoin();
  }
  if (uplink_.link().allows_reads()) {
    // Local versions must never be sent upstream. The conflict makes the client read again.
    if (sync::autonomy::carries_local_version(request.http.body)) {
      co_return to_response(sync::wire::status::conflict({info.group, info.resource}, info.name));
    }
    const Duration limit = acceptable ? uplink_.limit_with_fallback(deadlines_) : deadlines_.write;
    http::Response response = co_await forwarder_.forward(request, limit);
    if (!dry_run) answer_cache_.note_written(request, response);
    kept_pods_.clear();
    if (admission == sync::autonomy::Admission::registration) registration_.note(request, response);
    if (is_node && acceptable && response.status < 300) forget_older(info);
    // If the link failed meanwhile, the write is accepted here instead.
    const bool reached = uplink_.link().allows_reads() || response.status < 500;
    if (reached || !acceptable) co_return response;
  }
  if (!is_node) co_return unknown_credentials(uplink_);
  co_return accept(request, admission);
}

asio::awaitable<void> WriteHandler::wait_for_end_of_rejoin() {
  const MonoTime until = clock_.mono() + deadlines_.write;
  while (uplink_.is_closing()) {
    if (!co_await uplink_.changed().wait_until(until)) co_return;
  }
}

// Drops queued statuses that are older than the one the cloud has just accepted.
void WriteHandler::forget_older(const sync::objects::RequestInfo& info) {
  sync::objects::RequestInfo about = info;
  if (about.resource == "nodes") about.namespace_name.clear();
  if (auto done = offline_store_.drop_superseded(about); !done) {
    log_warn("superseded write not removed from the outbox", {{"error", done.error()}});
  }
}

// Only the body of a create request names the lease.
bool WriteHandler::is_our_lease(const http::Request& request) const {
  if (request.method != http::Method::post) return true;
  const auto header = sync::wire::read_any_header(request.body);
  return header && header->name == node_name_;
}

http::Response WriteHandler::answer_lease(const RoutedRequest& request) {
  auto version = versions_.next();
  if (!version) return not_accepted(version.error());
  const bool created = request.http.method == http::Method::post;
  if (request.http.method != http::Method::get) lease_.note_kubelet_activity();
  std::string lease = lease_.renew_locally(std::to_string(*version));
  return in_wanted_encoding(request.accept, created ? 201 : 200, std::move(lease));
}

asio::awaitable<http::Response> WriteHandler::pass_lease(const RoutedRequest& request) {
  if (!uplink_.link().allows_reads()) co_return unknown_credentials(uplink_);
  if (sync::autonomy::carries_local_version(request.http.body)) {
    co_return to_response(
        sync::wire::status::conflict({"coordination.k8s.io", "leases"}, node_name_));
  }
  // A kubelet with its own token renews the lease itself by this request. Permission to write the
  // lease does not make the caller the node's kubelet.
  co_return co_await forwarder_.forward(request, uplink_.limit_with_fallback(deadlines_));
}

namespace {

// The object as JSON from a scope of `owner`. A scope received as JSON is preferred: it has all
// fields.
std::optional<std::string> current_of(const std::vector<ScopePtr>& scopes,
                                      const sync::watch::ObjectKey& object,
                                      std::string_view owner) {
  std::optional<std::string> found;
  for (const ScopePtr& scope : scopes) {
    const sync::watch::CachedObject* cached = scope->cache().find(object);
    if (cached == nullptr || scope->key().owner != owner) continue;
    const sync::wire::ScopeKind& kind = scope->cache().kind();
    auto json = sync::watch::cached_json(kind, cached->bytes);
    if (!json) continue;
    found = *std::move(json);
    if (kind.encoding == sync::wire::Encoding::json) break;
  }
  return found;
}

// The object, with all its fields, from a scope in the client's encoding.
std::optional<http::Response> cached_answer(const sync::wire::Accept& accept,
                                            const std::vector<ScopePtr>& scopes,
                                            const sync::watch::ObjectKey& object) {
  const auto encoding = accept.encoding();
  for (const ScopePtr& scope : scopes) {
    const sync::wire::ScopeKind& kind = scope->cache().kind();
    const sync::watch::CachedObject* cached = scope->cache().find(object);
    if (cached == nullptr || kind.encoding != encoding) continue;
    const auto bytes = cached->bytes.load();
    if (!bytes) continue;
    http::Response response{.body = sync::watch::object_body(kind, **bytes)};
    response.headers.set("Content-Type", std::string(sync::wire::content_type(kind.encoding)));
    return response;
  }
  return std::nullopt;
}

// The object of a local event in the form of the scope. For a deletion it is the last state with
// the new version, from which clients continue.
Result<std::string> shown_in(const sync::watch::WatchCache& cache,
                             const sync::watch::CacheEvent& event, std::string_view object) {
  const sync::watch::CachedObject* last = cache.find(event.key);
  const bool is_deleted = event.type == sync::watch::EventType::deleted;
  CHECK(last != nullptr || !is_deleted);
  if (last == nullptr) return sync::autonomy::local_form(cache.kind(), std::nullopt, object);
  TRY(const sync::watch::Bytes before, last->bytes.load());
  if (is_deleted) return sync::watch::with_version(*before, event.object.version);
  return sync::autonomy::local_form(cache.kind(), *before, object);
}

}  // namespace

// The complete scopes that hold the object or, if it is created, that select it.
std::vector<ScopePtr> WriteHandler::holders(const sync::objects::RequestInfo& info,
                                            const sync::watch::ObjectKey& object,
                                            bool created) const {
  std::vector<ScopePtr> found;
  for (const auto& [key, scope] : scopes_.table().all()) {
    if (key.group != info.group || key.resource != info.resource) continue;
    if (!scope->cache().complete()) continue;
    const bool here = key.namespace_name.empty() || key.namespace_name == object.namespace_name;
    const bool selects =
        key.label_selector.empty() &&
        (key.field_selector.empty() || key.field_selector == "spec.nodeName=" + node_name_ ||
         key.field_selector == "metadata.name=" + object.name);
    const bool has = scope->cache().find(object) != nullptr;
    if (has || (created && here && selects)) found.push_back(scope);
  }
  return found;
}

http::Response WriteHandler::accept(const RoutedRequest& request,
                                    sync::autonomy::Admission admission) {
  const auto body = json_body_of(request.http);
  if (!body) return to_response(sync::wire::status::bad_request(body.error().what));
  sync::objects::RequestInfo about = request.info;
  if (about.resource == "nodes") about.namespace_name.clear();
  const bool registration = admission == sync::autonomy::Admission::registration;
  if (about.verb == "create") {
    const auto header = sync::wire::read_header(body->bytes);
    if (header) about.name = header->name;
  }
  const sync::watch::ObjectKey object{about.namespace_name, about.name};
  const auto version = versions_.next();
  if (!version) return not_accepted(version.error());

  std::vector<ScopePtr> scopes = holders(about, object, about.verb == "create");
  const std::optional<std::string> current = current_of(scopes, object, request.caller.owner);
  if (registration && about.name == node_name_ && !current) {
    return unavailable(uplink_, "this node was never registered");
  }
  const auto waiting = offline_store_.queued_statuses(about);
  if (!waiting) return not_accepted(waiting.error());
  const std::string uid = sync::autonomy::local_uid(random_.uuid());
  sync::autonomy::LocalWrite write{.admission = admission,
                                   .request = about,
                                   .content_type = body->content_type,
                                   .body = body->bytes,
                                   .waiting = *waiting,
                                   .grace_period_seconds = request.query.get("gracePeriodSeconds"),
                                   .node_name = node_name_,
                                   .version = *version,
                                   .now = clock_.wall(),
                                   .new_uid = uid};
  if (current) write.current = *current;
  const sync::autonomy::LocalOutcome outcome = apply_local_write(write);
  const bool needs_cloud = !outcome.accepted && outcome.refusal.code == 503;
  if (needs_cloud) return unavailable(uplink_, outcome.refusal.message);
  if (outcome.queued) {
    if (auto added = offline_store_.add(about, about.name, *outcome.queued); !added) {
      return not_accepted(added.error());
    }
  }
  if (!outcome.accepted) return to_response(outcome.refusal);
  if (outcome.kept_pod) {
    tell_kept(about, outcome.uid, outcome.answer);
    return in_wanted_encoding(request.accept, outcome.status, outcome.answer);
  }
  uplink_.accepted_locally();
  if (auto applied = apply(about, outcome, scopes, *version); !applied) {
    // The write is in the outbox, so it is accepted. The cache gets it again after a restart.
    log_error("cache write failed", {{"error", applied.error()}});
  }
  const bool put = outcome.change == sync::autonomy::LocalOutcome::Change::put;
  if (put) {
    if (auto cached = cached_answer(request.accept, scopes, object)) {
      cached->status = outcome.status;
      return *std::move(cached);
    }
  }
  return in_wanted_encoding(request.accept, outcome.status, outcome.answer);
}

// A kubelet repeats the status every ten seconds.
void WriteHandler::tell_kept(const sync::objects::RequestInfo& info, const std::string& uid,
                             std::string_view pod) {
  if (!kept_pods_.insert(uid).second) return;
  const auto parsed = sync::wire::parse_json(pod);
  const sync::json::object none;
  const sync::json::object& ended = parsed ? sync::wire::as_object(*parsed) : none;
  const std::string reason(sync::wire::dig_text(ended, {"status", "reason"}));
  const std::string name = info.namespace_name + "/" + info.name;
  log_warn("pod kept, its kubelet ended it because of a reboot",
           {{"pod", name}, {"uid", uid}, {"reason", reason}});
  offline_store_.record("pod", "pods/" + name,
                        "kept: the kubelet ended it because of a reboot (" + reason +
                            "), and nobody could replace it");
}

Status WriteHandler::apply(const sync::objects::RequestInfo& info,
                           const sync::autonomy::LocalOutcome& outcome,
                           const std::vector<ScopePtr>& scopes, sync::objects::Version version) {
  using Change = sync::autonomy::LocalOutcome::Change;
  if (outcome.change == Change::none) return {};
  sync::watch::CacheEvent event{.key = {info.namespace_name, outcome.name},
                                .object = {.uid = outcome.uid, .version = version}};
  event.type = outcome.change == Change::put ? sync::watch::EventType::modified
                                             : sync::watch::EventType::deleted;
  Status shown;
  for (const ScopePtr& scope : scopes) {
    auto bytes = shown_in(scope->cache(), event, outcome.object);
    if (!bytes) {
      shown = fail(bytes.error());
      continue;  // The other scopes are still updated.
    }
    event.object.bytes = std::make_shared<const std::string>(*std::move(bytes));
    content_.apply_local(*scope, event);
  }
  auto flushed = scopes_.flush();
  return shown ? flushed : shown;
}

Status WriteHandler::reapply_outbox() {
  TRY(const std::vector<store::Entry> waiting, offline_store_.list(10'000));
  for (const store::Entry& entry : waiting) {
    const store::Write& queued = entry.write;
    auto info = sync::objects::parse_request(queued.verb, queued.target, "");
    if (!info || entry.damaged) continue;
    if (info->resource == "nodes") info->namespace_name.clear();
    info->name = queued.object.name;
    const sync::watch::ObjectKey object{info->namespace_name, info->name};
    const auto scopes = holders(*info, object, queued.verb == "POST");
    if (scopes.empty()) continue;
    const auto current = current_of(scopes, object, node_owner);
    if (current && queued.verb == "POST") continue;
    TRY(const sync::objects::Version version, versions_.next());
    const std::string new_uid = sync::autonomy::local_uid(random_.uuid());
    sync::autonomy::LocalWrite write{.admission = sync::autonomy::admit(*info, node_name_),
                                     .request = *info,
                                     .content_type = queued.content_type,
                                     .body = queued.body,
                                     .queued = true,
                                     .node_name = node_name_,
                                     .version = version,
                                     .now = queued.created,
                                     .new_uid = new_uid};
    if (current) write.current = *current;
    if (write.admission == sync::autonomy::Admission::event) continue;
    const sync::autonomy::LocalOutcome outcome = apply_local_write(write);
    if (!outcome.accepted) continue;
    if (outcome.only_heartbeat) continue;  // The cache has all but new times.
    if (auto applied = apply(*info, outcome, scopes, version); !applied) return applied;
  }
  return {};
}

}  // namespace holdfast::agent
