#include "agent/edge/cache/answer_cache.h"

#include "platform/log.h"
#include "sync/autonomy/references.h"
#include "sync/wire/protobuf/header.h"

namespace holdfast::agent {

bool AnswerCache::may_keep(const Caller& caller) const {
  return caller.owner == node_owner || owners_.accepted(caller.owner);
}

ScopePtr AnswerCache::open(const store::ScopeKey& key) {
  auto opened = scopes_.open(key);
  if (opened) return *std::move(opened);
  log_warn(
      "list not cached",
      {{"resource", key.resource}, {"namespace", key.namespace_name}, {"error", opened.error()}});
  return nullptr;
}

void AnswerCache::keep(CacheQuery& query, const http::Response& response) {
  if (!may_keep(query.request.caller)) return;
  if (query.request.is_get()) return keep_object(query, response);
  if (response.status != 200) return;
  if (!query.scope) query.scope = open(query.key);
  if (!query.scope) return;
  LocalScope& scope = *query.scope;
  const bool listable = scope.default_fetch_mode() == FetchMode::list_watch;
  const bool got = scope.fetch_mode() == FetchMode::get && listable;
  const bool is_whole = !response.stream && query.request.is_list() && query.options.limit == 0 &&
                        query.options.continue_token.empty();
  const bool fits = scope.health().too_large() > 0 && is_whole &&
                    response.body.size() <= scopes_.table().limits().scope_bytes;
  if (!got && !scope.refused() && !fits) return;
  // The list was refused before and is granted now: a node may read a Secret only once the API
  // server knows a pod that uses it. Or it was too large, and is no longer.
  scope.set_fetch_mode(scope.default_fetch_mode());
  reflectors_.list_granted(query.scope);
}

void AnswerCache::keep_object(const CacheQuery& query, const http::Response& response) {
  const bool there = response.status == 200;
  if (response.stream || (!there && response.status != 404)) return;
  const sync::objects::RequestInfo& info = query.request.info;
  ScopePtr scope = scopes_.table().find(query.key);
  if (!scope) {
    // The scope that covers the object has it already, or gets it soon by its watch.
    if (query.scope) return;
    const bool of_pods = sync::autonomy::kind_got_by_name(info.group, info.resource) ||
                         info.resource == "secrets" || info.resource == "configmaps";
    // That an object of a pod does not exist must be known offline, too. Pods themselves are not
    // kept one by one: a node may not list pods by name, and has a list of its own pods.
    const bool worth = of_pods || (there && info.resource != "pods");
    if (!worth) return;
    scope = open(query.key);
    if (!scope) return;
    scope->record_requester(query.request.caller.agent);
  }
  if (scope->fetch_mode() != FetchMode::get) return;
  if (!there) return reflectors_.store_absence(std::move(scope));
  if (auto kept = reflectors_.store_object(scope, response.body); !kept) {
    log_warn("object not cached", {{"path", scope->path()}, {"error", kept.error()}});
  }
}

void AnswerCache::note_written(const RoutedRequest& request, const http::Response& response) {
  const sync::objects::RequestInfo& info = request.info;
  const bool whole = info.subresource.empty() || info.subresource == "status";
  if (response.status < 200 || response.status >= 300 || !info.is_resource || !whole) return;
  std::string name = info.name;
  if (name.empty()) {
    const auto header = sync::wire::read_any_header(response.body);
    if (header) name = header->name;
  }
  for (const sync::wire::Encoding encoding :
       {sync::wire::Encoding::json, sync::wire::Encoding::protobuf}) {
    const ScopePtr scope = scopes_.table().find({.owner = request.caller.owner,
                                                 .group = info.group,
                                                 .version = info.version,
                                                 .resource = info.resource,
                                                 .namespace_name = info.namespace_name,
                                                 .field_selector = "metadata.name=" + name,
                                                 .encoding = std::string(to_string(encoding))});
    if (!scope) continue;
    if (scope->fetch_mode() == FetchMode::list_watch) {
      if (info.verb == "create") reflectors_.created(scope, response.body);
      continue;
    }
    const bool shows_it =
        info.verb != "delete" && sync::watch::encoding_of(response.body) == encoding;
    const bool taken = shows_it && reflectors_.store_object(scope, response.body);
    if (!taken) reflectors_.list_again({scope});
  }
}

void AnswerCache::put(const RoutedRequest& request, std::string_view key,
                      const store::Answer& answer) {
  if (!may_keep(request.caller)) return;
  if (auto put = answers_.put(request.caller.owner, key, answer); !put) {
    log_warn("answer not cached", {{"path", request.http.path()}, {"error", put.error()}});
  }
}

std::optional<store::Answer> AnswerCache::find(const Caller& caller, std::string_view key) {
  auto found = answers_.find(caller.owner, key);
  return found ? *std::move(found) : std::nullopt;
}

http::Response to_response(store::Answer answer) {
  http::Response response{.status = answer.status, .body = std::move(answer.bytes)};
  response.headers.set("Content-Type", std::move(answer.content_type));
  return response;
}

}  // namespace holdfast::agent
