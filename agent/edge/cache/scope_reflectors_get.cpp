// The part of ScopeReflectors for scopes whose one object the caller may get, but neither list nor
// watch.

#include "agent/edge/cache/scope_reflectors.h"
#include "agent/edge/cache/scope_sink.h"
#include "platform/log.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/autonomy/references.h"
#include "sync/filters/knowledge.h"
#include "sync/pacing/backoff.h"
#include "sync/wire/object_header.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/header.h"

namespace holdfast::agent {
namespace {

// After this time an API server breaks off a request itself (--request-timeout): a large object on
// a slow line may take as long.
constexpr Duration object_limit = std::chrono::minutes(1);
constexpr std::string_view object_types = "application/vnd.kubernetes.protobuf,application/json";

// The kind of the object in `body`. Errors: corrupt (no object, or not a whole one).
Result<sync::wire::ScopeKind> kind_of(std::string_view body) {
  sync::wire::ScopeKind kind{.encoding = sync::watch::encoding_of(body)};
  if (kind.encoding == sync::wire::Encoding::protobuf) {
    TRY(const auto envelope, sync::wire::open_envelope(body));
    kind.kind = envelope.kind;
    kind.api_version = envelope.api_version;
  } else {
    TRY(sync::wire::ObjectHeader header, sync::wire::read_header(body));
    kind.kind = std::move(header.kind);
    kind.api_version = std::move(header.api_version);
  }
  // Rejects a Table or PartialObjectMetadata.
  if (kind.api_version.starts_with("meta.k8s.io/")) {
    return fail(Errc::corrupt, "a " + kind.kind + " is not the whole object");
  }
  return kind;
}

// The kind of the objects that this agent reads by name on behalf of the kubelet or of its filters;
// "" for others.
std::string_view known_kind(const store::ScopeKey& key) {
  namespace filters = sync::filters;
  const bool pools = key.group == filters::openyurt_group && key.resource == filters::pool_resource;
  if (pools) return filters::pool_kind;
  return sync::autonomy::kind_got_by_name(key.group, key.resource).value_or("");
}

}  // namespace

asio::awaitable<void> ScopeReflectors::refresh_by_get(ScopePtr scope, std::string authorization,
                                                      MonoTime since) {
  sync::pacing::Backoff backoff(scope_retry.backoff);
  // A client's request may have fetched it meanwhile.
  while (scope->refreshed_at() == MonoTime::min() || scope->refreshed_at() < since) {
    const std::optional<sync::watch::Failure> failure = co_await get_object(scope, authorization);
    if (!failure) break;
    note_failure(*scope, ScopeHealth::Part::list, *failure);
    if (sync::watch::is_refusal(*failure)) break;  // Tried again when a client requests it.
    const Duration pause = std::max(backoff.next(clock_.mono(), random_), failure->retry_after);
    co_await loop::sleep_until(clock_.mono() + pause);
  }
}

asio::awaitable<std::optional<sync::watch::Failure>> ScopeReflectors::get_object(
    ScopePtr scope, std::string authorization) {
  ApiRequest request{.target = scope->path() + "/" + percent_encode(scope->object_name()),
                     .authorization = std::move(authorization)};
  if (scope->key().encoding == sync::wire::to_string(sync::wire::Encoding::protobuf)) {
    request.accept = object_types;
  }
  // A rejoin does not put this off as it does lists: one object is about as much as a watch brings.
  const auto response = co_await send_within(std::move(request), false, object_limit);
  if (!response) co_return sync::watch::failure_of(response.error());
  if (response->status == 404) {
    store_absence(scope);
    co_return std::nullopt;
  }
  if (response->status != 200) co_return failure_of(*response);
  const Status taken = store_object(scope, response->body);
  if (!taken) co_return sync::watch::failure_of(taken.error());
  co_return std::nullopt;
}

Status ScopeReflectors::store_object(ScopePtr scope, std::string_view body) {
  TRY(const sync::wire::ScopeKind kind, kind_of(body));
  TRY(std::string item, sync::watch::cached_form(std::string(body)));
  TRY(const sync::wire::ObjectHeader header, sync::wire::read_any_header(item));
  if (header.name != scope->object_name()) {
    return fail(Errc::corrupt, "the answer is for \"" + header.name + "\"");
  }
  std::vector<std::string> items;
  items.push_back(std::move(item));
  ScopeSink sink(*this, content_, std::move(scope));
  return sink.try_replace(std::move(items), header.resource_version, kind);
}

void ScopeReflectors::created(ScopePtr scope, std::string_view body) {
  const sync::watch::WatchCache& cache = scope->cache();
  if (!scope->health().is_healthy() || !cache.complete()) return;
  if (!cache.objects().empty() || cache.has_local_events()) return;
  const auto header = sync::wire::read_any_header(body);
  if (!header || header->name != scope->object_name() || !kind_of(body)) return;
  ScopeSink sink(*this, content_, std::move(scope));
  sink.apply({.type = sync::wire::WatchEvent::Type::added, .object = std::string(body)});
}

void ScopeReflectors::store_absence(ScopePtr scope) {
  const store::ScopeKey& key = scope->key();
  sync::wire::ScopeKind kind = scope->cache().kind();
  if (const std::string_view known = known_kind(key); kind.kind.empty() && !known.empty()) {
    kind = {
        .kind = std::string(known),
        .api_version = key.group.empty() ? key.version : key.group + "/" + key.version,
        .encoding = sync::wire::parse_encoding(key.encoding).value_or(sync::wire::Encoding::json)};
  }
  if (kind.kind.empty()) return;
  if (auto taken = content_.replace(*scope, {}, scope->cache().version(), kind); !taken) {
    log_warn("404 not cached", {{"path", scope->path()}, {"error", taken.error()}});
    return;
  }
  note_success(*scope, ScopeHealth::Part::list);
}

}  // namespace holdfast::agent
