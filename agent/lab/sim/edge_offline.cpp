#include <utility>

#include "agent/lab/sim/edge.h"
#include "platform/check.h"
#include "sync/autonomy/local_form.h"
#include "sync/autonomy/local_write.h"
#include "sync/wire/json.h"
#include "sync/wire/object_header.h"

namespace holdfast::agent::lab::sim {

using sync::autonomy::Admission;
using sync::autonomy::LinkState;

namespace {

Answer unavailable_here(std::string why) { return {.status = unavailable, .body = std::move(why)}; }

sync::watch::ObjectKey key_of(const sync::objects::RequestInfo& info) {
  const bool in_namespace = info.resource == "pods";
  return {in_namespace ? info.namespace_name : "", info.name};
}

// Removes the times at which conditions were checked.
void drop_heartbeats(sync::json::object& status) {
  sync::json::value* conditions = status.if_contains("conditions");
  if (conditions == nullptr || !conditions->is_array()) return;
  for (sync::json::value& condition : conditions->as_array()) {
    if (condition.is_object()) condition.as_object().erase("lastHeartbeatTime");
  }
}

std::optional<sync::json::object> status_of(std::string_view object) {
  auto value = sync::wire::parse_json(object);
  if (!value || !value->is_object()) return std::nullopt;
  sync::json::value* status = value->as_object().if_contains("status");
  if (status == nullptr || !status->is_object()) return std::nullopt;
  drop_heartbeats(status->as_object());
  return std::move(status->as_object());
}

}  // namespace

void Edge::write(const Life& life, Request request, Done done) {
  engine_.after(local_delay, life,
                [this, &life, request = std::move(request), done = std::move(done)]() mutable {
                  if (!process_)
                    return done({.why = "connection refused", .code = Errc::unavailable});
                  const auto info = sync::objects::parse_request(request.verb, request.path, "");
                  CHECK(info);
                  const Admission admission = sync::autonomy::admit(*info, node_);
                  if (admission == Admission::node_status)
                    process_->kubelet.note_activity(engine_.now());
                  if (process_->link.allows_reads()) {
                    return forward(life, std::move(request), admission, std::move(done));
                  }
                  done(accept(request, admission));
                });
}

void Edge::forward(const Life& life, Request request, Admission admission, Done done) {
  const bool acceptable = admission != Admission::refuse;
  const Duration limit = acceptable ? config_.read_deadline : config_.write_deadline;
  if (sync::autonomy::carries_local_version(request.body)) return done({.status = conflict});
  const std::uint64_t number = ++process_->connections;
  process_->open[number] = [token = life.token(), done = std::move(done)](const Answer& answer) {
    if (!token.expired()) done(answer);
  };
  Request copy = request;
  send(process_->life, std::move(copy), limit,
       [this, number, token = life.token(), acceptable, admission,
        request = std::move(request)](const Answer& answer) {
         const Done reply = process_->open.extract(number).mapped();
         if (token.expired()) return;
         const auto info = sync::objects::parse_request(request.verb, request.path, "");
         if (acceptable && answer.is_ok()) disk_.outbox.drop_superseded(*info);
         const bool answered = answer.status != 0 && answer.status < 500;
         if (!acceptable || answered || process_->link.allows_reads()) {
           return reply(answer.status == 0 ? unavailable_here(answer.why) : answer);
         }
         reply(accept(request, admission));
       });
}

Scope* Edge::scope_of(const sync::objects::RequestInfo& info) {
  if (info.resource == "pods") return &process_->pods;
  if (info.resource == "nodes") return &process_->node;
  return nullptr;
}

Answer Edge::accept(const Request& request, Admission admission) {
  auto info = sync::objects::parse_request(request.verb, request.path, "");
  CHECK(info);
  if (info->resource == "nodes") info->namespace_name.clear();
  if (info->verb == "create") {
    if (const auto header = sync::wire::read_header(request.body)) info->name = header->name;
  }
  Scope* scope = scope_of(*info);
  const bool known = scope != nullptr && scope->cache().complete();
  const sync::watch::CachedObject* cached = known ? scope->cache().find(key_of(*info)) : nullptr;
  std::optional<std::string> current;
  if (cached != nullptr) {
    auto json = sync::watch::cached_json(scope->cache().kind(), cached->bytes);
    CHECK(json);
    current = *std::move(json);
  }
  if (admission == Admission::registration && !current) {
    return unavailable_here("this node was never registered");
  }
  const sync::objects::Version version = ++disk_.last_local;
  const std::string uid = sync::autonomy::local_uid(link().random(Draw::agent).uuid());
  sync::autonomy::LocalWrite write{.admission = admission,
                                   .request = *info,
                                   .content_type = request.content_type,
                                   .body = request.body,
                                   .node_name = node_,
                                   .version = version,
                                   .now = clock_.wall(),
                                   .new_uid = uid};
  if (current) write.current = *current;
  const auto outcome = sync::autonomy::apply_local_write(write);
  if (outcome.queued) {
    if (current) check_not_heartbeat(*info, *current, *outcome.queued);
    if (!disk_.outbox.add(*info, *outcome.queued, clock_.wall())) return {.status = 507};
    resume_replay();
  }
  if (!outcome.accepted) {
    return {.status = outcome.refusal.code, .body = outcome.refusal.message};
  }
  process_->link.accepted_locally();
  apply(*info, outcome, version);
  return {.status = outcome.status, .body = outcome.answer};
}

// A heartbeat is never queued. Compared here without the production's own rule.
void Edge::check_not_heartbeat(const sync::objects::RequestInfo& info, std::string_view current,
                               const sync::autonomy::QueuedWrite& write) {
  if (info.resource != "nodes" || info.subresource != "status") return;
  const auto before = status_of(current);
  const auto after = status_of(write.body);
  if (!before || !after || *before != *after) return;
  engine_.violate("a heartbeat is never queued", node_ + ": " + write.body);
}

void Edge::apply(const sync::objects::RequestInfo& info,
                 const sync::autonomy::LocalOutcome& outcome, sync::objects::Version version) {
  using What = sync::autonomy::LocalOutcome::Change;
  Scope* scope = scope_of(info);
  if (outcome.change == What::none || scope == nullptr || !scope->cache().complete()) return;
  sync::watch::WatchCache& cache = scope->cache();
  sync::watch::CacheEvent event{
      .type = outcome.change == What::put ? sync::watch::EventType::modified
                                          : sync::watch::EventType::deleted,
      .key = {info.resource == "pods" ? info.namespace_name : "", outcome.name},
      .object = {.uid = outcome.uid, .version = version, .bytes = {}}};
  const sync::watch::CachedObject* last = cache.find(event.key);
  std::optional<std::string_view> before;
  if (last != nullptr) {
    const auto cached = last->bytes.load();
    CHECK(cached);
    before = **cached;
  }
  if (event.type == sync::watch::EventType::deleted && !before) return;
  auto bytes = event.type == sync::watch::EventType::deleted
                   ? sync::watch::with_version(*before, version)
                   : sync::autonomy::local_form(cache.kind(), before, outcome.object);
  CHECK(bytes);
  event.object.bytes = std::make_shared<const std::string>(*std::move(bytes));
  (void)cache.apply_local(std::move(event));
  node_changed();
  flush();
}

// What the outbox has is newer than what the disk has of the cache.
void Edge::reapply_outbox() {
  for (const OutboxEntry& entry : disk_.outbox.entries()) {
    Scope* scope = scope_of(entry.object);
    if (scope == nullptr || !scope->cache().complete()) continue;
    process_->link.accepted_locally();
    const sync::watch::CachedObject* cached = scope->cache().find(key_of(entry.object));
    std::optional<std::string> current;
    if (cached != nullptr) {
      auto json = sync::watch::cached_json(scope->cache().kind(), cached->bytes);
      CHECK(json);
      current = *std::move(json);
    }
    if (current && entry.write.verb == "POST") continue;
    const auto info = sync::objects::parse_request(entry.write.verb, entry.write.target, "");
    CHECK(info);
    sync::objects::RequestInfo about = *info;
    about.name = entry.object.name;
    if (about.resource == "nodes") about.namespace_name.clear();
    const sync::objects::Version version = ++disk_.last_local;
    const std::string uid = sync::autonomy::local_uid(link().random(Draw::agent).uuid());
    sync::autonomy::LocalWrite write{.admission = sync::autonomy::admit(about, node_),
                                     .request = about,
                                     .content_type = entry.write.content_type,
                                     .body = entry.write.body,
                                     .queued = true,
                                     .node_name = node_,
                                     .version = version,
                                     .now = entry.created,
                                     .new_uid = uid};
    if (current) write.current = *current;
    const auto outcome = sync::autonomy::apply_local_write(write);
    if (outcome.accepted && !outcome.only_heartbeat) apply(about, outcome, version);
  }
}

}  // namespace holdfast::agent::lab::sim
