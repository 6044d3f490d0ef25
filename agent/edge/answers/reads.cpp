#include "agent/edge/answers/reads.h"

#include "agent/edge/answers/question.h"
#include "agent/edge/forward/unavailable.h"
#include "agent/edge/route/answer.h"
#include "platform/http/wire.h"
#include "platform/log.h"
#include "platform/text.h"
#include "sync/api/selector.h"
#include "sync/autonomy/references.h"
#include "sync/protobuf/header.h"

namespace holdfast::agent {
namespace {

// The canonical text of a selector, so that equal requests use the same scope.
std::string canonical_fields(const std::string& text) {
  const auto query = sync::FieldQuery::parse(text);
  return query ? query->text() : text;
}

std::string canonical_labels(const std::string& text) {
  const auto query = sync::LabelQuery::parse(text);
  return query ? query->text() : text;
}

// Documents that describe the API. They change only when the server is upgraded, so an old copy is
// still true, and they are kept for any client. Health and metrics are not.
bool is_description(std::string_view path) {
  return path == "/version" || path == "/api" || path.starts_with("/api/") || path == "/apis" ||
         path.starts_with("/apis/") || path.starts_with("/openapi/");
}

bool names_local_version(const http::Request& request) {
  const auto query = Query::parse(request.query());
  return query && sync::is_local_version(query->get("resourceVersion"));
}

// The same request without Table and metadata forms (";as="), which filters cannot read. Nothing if
// the client accepts nothing else.
std::optional<http::Request> for_whole_objects(const http::Request& request) {
  std::string accept;
  for (const std::string_view part : split(request.headers.get("accept"), ',')) {
    if (part.find("as=") != std::string_view::npos) continue;
    if (!accept.empty()) accept += ",";
    accept += trim(part);
  }
  const bool any = trim(request.headers.get("accept")).empty();
  if (!any && (accept.empty() || !sync::wanted_encoding(accept))) return std::nullopt;
  http::Request whole = request;
  if (!any) whole.headers.set("Accept", std::move(accept));
  return whole;
}

http::Request upstream_request(const http::Request& request) {
  http::Request onward = request;
  const bool upgrade = request.headers.has("upgrade");
  drop_connection_headers(onward.headers, upgrade);
  onward.headers.remove("host");
  onward.headers.remove("accept-encoding");  // cached answers are kept uncompressed
  return onward;
}

http::Response passed_on_or_why(const Uplink& uplink, Result<http::Response> response) {
  if (!response) return not_reached(uplink, response.error());
  drop_connection_headers(response->headers, response->status == 101);
  return *std::move(response);
}

// Whether the API server passes the request on, to a kubelet or a pod.
bool is_passed_on(const sync::RequestInfo& info) {
  return info.is_connect() || (info.resource == "pods" && info.subresource == "log");
}

}  // namespace

Reads::Reads(const EdgeOptions& options, Scopes& scopes, Uplink& uplink, Feeders& feeders,
             AnswerFilters& filters, const Clock& clock, Random& random)
    : options_(options),
      scopes_(scopes),
      uplink_(uplink),
      feeders_(feeders),
      filters_(filters),
      clock_(clock),
      random_(random),
      pages_(clock, random),
      people_(options, scopes, uplink, clock) {}

asio::awaitable<http::Response> Reads::dial(const http::Request& request) {
  if (!uplink_.link().may_ask()) {
    co_return unavailable(uplink_, "only the API server can answer this request");
  }
  constexpr auto patience = std::chrono::seconds(40);  // kube-apiserver waits 30 s for a kubelet
  const bool streamed = request.method != http::Method::head;
  auto response = co_await uplink_.forward(upstream_request(request), streamed, patience, false);
  if (response && response->stream && http::has_no_body(response->status)) {
    response->stream->cancel();
    response->stream.reset();
  }
  co_return passed_on_or_why(uplink_, std::move(response));
}

asio::awaitable<http::Response> Reads::pass_through(const http::Request& request, Duration limit) {
  if (names_local_version(request)) {
    co_return to_response(
        sync::status::expired("the resourceVersion is a local one of the edge agent, which the API "
                              "server does not know"));
  }
  const bool hopeless = uplink_.link().state() == sync::LinkState::offline && uplink_.fault();
  if (hopeless) co_return unavailable(uplink_, "this is not cached");
  http::Request onward = upstream_request(request);
  const bool streamed = request.query().find("watch=") != std::string_view::npos ||
                        request.query().find("follow=") != std::string_view::npos ||
                        request.headers.has("upgrade");
  auto response = co_await uplink_.forward(std::move(onward), streamed, limit);
  co_return passed_on_or_why(uplink_, std::move(response));
}

asio::awaitable<http::Response> Reads::serve(const http::Request& request,
                                             const sync::RequestInfo& info, const Caller& caller) {
  FilterCall call = co_await filters_.call_of(caller.agent, info);
  const std::optional<http::Request> plain = people_.without_form(request);
  http::Response response = co_await serve_filtered(plain ? *plain : request, info, caller, call);
  const bool of_objects = call.from_cache || plain;
  co_return people_.show(request, info, caller, of_objects, std::move(response));
}

asio::awaitable<http::Response> Reads::serve_filtered(const http::Request& request,
                                                      const sync::RequestInfo& info,
                                                      const Caller& caller, FilterCall& call) {
  if (!filters_.view(call)) co_return co_await serve_seen(request, info, caller, call);
  const std::optional<http::Request> whole = for_whole_objects(request);
  if (!whole) co_return to_response(sync::status::generic(406));
  http::Response response = co_await serve_seen(*whole, info, caller, call);
  co_return co_await filters_.show(call, std::move(response));
}

// Chooses how a read is answered: as a document, as a request that the API server passes on, from
// the cloud alone, or with the help of a scope.
asio::awaitable<http::Response> Reads::serve_seen(const http::Request& request,
                                                  const sync::RequestInfo& info,
                                                  const Caller& caller, FilterCall& call) {
  if (!info.is_resource && is_description(request.path())) {
    co_return co_await serve_document(request, caller, call);
  }
  if (is_passed_on(info)) co_return co_await dial(request);
  if (!caller.cached || !info.is_resource) {
    co_return co_await pass_through(request, options_.write_deadline);
  }
  const std::string_view accept = request.headers.get("accept");
  const auto encoding = sync::wanted_encoding(accept);
  const bool cacheable = info.subresource.empty() && encoding;
  if (!cacheable) co_return co_await pass_through(request, options_.write_deadline);

  Question question{.info = info, .caller = caller, .call = &call, .accept = std::string(accept)};
  auto query = Query::parse(request.query());
  if (!query) co_return to_response(sync::status::bad_request(query.error().what));
  question.query = *std::move(query);
  // In a RequestInfo, namespaces have themselves as namespace, but they are cluster-scoped.
  const bool cluster_scoped = info.resource == "namespaces" || info.resource == "nodes";
  question.key = {.owner = caller.owner,
                  .group = info.group,
                  .version = info.version,
                  .resource = info.resource,
                  .namespace_name = cluster_scoped ? "" : info.namespace_name,
                  .label_selector = canonical_labels(info.label_selector),
                  .field_selector = canonical_fields(info.field_selector),
                  .encoding = std::string(to_string(*encoding))};
  if (info.verb == "get") question.key.field_selector = "metadata.name=" + info.name;
  question.info.namespace_name = question.key.namespace_name;
  const std::string_view version = question.query.get("resourceVersion");
  const bool exact = question.query.get("resourceVersionMatch") == "Exact";
  question.newest = !question.is_watch() && (version.empty() || exact);
  question.newest =
      question.newest || question.query.has("continue") || sync::prefers_transformed(accept);
  const bool ours = sync::parse_page_token(question.query.get("continue")).has_value();
  // Only the agent knows this version.
  if (ours || sync::is_local_version(version)) question.newest = false;
  co_return co_await serve_resource(request, std::move(question));
}

asio::awaitable<http::Response> Reads::serve_resource(const http::Request& request,
                                                      Question question) {
  find_scope(question);
  auto response = co_await ask_cloud(request, question);
  if (response) co_return *std::move(response);
  if (question.is_get() && !question.scope) {
    store::ScopeKey in_any_encoding = question.key;
    in_any_encoding.encoding.clear();
    question.scope = scopes_.covering(in_any_encoding, question.object(), true);
  }
  if (!question.scope) co_return unavailable(uplink_, "this is not cached");
  const bool complete = co_await wait_until_complete(question.scope);
  // Asks the cloud if the scope cannot be listed, or was listed too late for this request.
  response = co_await ask_cloud(request, question);
  if (response) co_return *std::move(response);
  if (!complete && !scopes_.derive(*question.scope)) {
    co_return unavailable(uplink_, question.info.resource + " were never completely received");
  }
  co_return co_await from_cache(std::move(question));
}

// Finds or opens the scope that answers the request: its own or, for one object, any that contains
// it.
void Reads::find_scope(Question& question) {
  if (question.is_get()) {
    question.scope = scopes_.covering(question.key, question.object(), true);
    if (!question.scope) question.scope = scopes_.find(question.key);
  } else {
    question.scope = scopes_.find(question.key);
    // Credentials that the cloud has not accepted yet may be invented: no scope is opened for them.
    const bool trusted = question.caller.owner == node_owner || scopes_.can_derive(question.key);
    if (!question.scope && trusted) question.scope = open_scope(question.key);
  }
  if (!question.scope) return;
  question.scope->note_use(clock_.mono());
  question.scope->note_asker(question.caller.agent);
}

asio::awaitable<std::optional<http::Response>> Reads::ask_cloud(const http::Request& request,
                                                                Question& question) {
  const bool complete = question.scope && question.scope->cache().complete();
  const bool wanted = question.newest || !question.scope || only_the_cloud_knows(question) ||
                      is_before_the_cache(question);
  if (!wanted || question.asked || !uplink_.link().may_ask()) co_return std::nullopt;
  question.asked = true;
  http::Request onward = upstream_request(request);
  // If the cache could answer instead, the cloud gets less time.
  const Duration limit = complete ? options_.read_deadline : options_.write_deadline;
  auto response = co_await uplink_.forward(std::move(onward), question.is_watch(), limit);
  if (!response) co_return std::nullopt;
  keep_answer(question, *response);
  drop_connection_headers(response->headers, false);
  co_return *std::move(response);
}

// Uses an answer of the cloud for the cache: keeps an object, or opens or restarts the scope.
void Reads::keep_answer(Question& question, const http::Response& response) {
  const bool is_node = question.caller.owner == node_owner;
  if (!is_node && !uplink_.owners().accepted(question.caller.owner)) return;
  if (question.is_get()) return keep_object(question, response);
  if (response.status != 200) return;
  if (!question.scope) question.scope = open_scope(question.key);
  if (!question.scope) return;
  LocalScope& scope = *question.scope;
  const bool listable = scope.usual_feeding() == Feeding::list_watch;
  const bool got = scope.feeding() == Feeding::get && listable;
  if (!got && !scope.refused()) return;
  // The list was refused before and is granted now: a node may read a Secret only once the API
  // server knows a pod that uses it.
  scope.feed_by(scope.usual_feeding());
  feeders_.list_again({question.scope});
}

void Reads::keep_object(const Question& question, const http::Response& response) {
  const bool there = response.status == 200;
  if (!there && response.status != 404) return;
  ScopePtr scope = scopes_.find(question.key);
  if (!scope) {
    // The scope that covers the object has it already, or gets it soon by its watch.
    if (question.scope) return;
    const bool of_pods = sync::kind_got_by_name(question.info.group, question.info.resource) ||
                         question.info.resource == "secrets" ||
                         question.info.resource == "configmaps";
    // That an object of a pod does not exist must be known offline, too. Pods themselves are not
    // kept one by one: a node may not list pods by name, and has a list of its own pods.
    const bool worth = of_pods || (there && question.info.resource != "pods");
    if (!worth) return;
    scope = open_scope(question.key);
    if (!scope) return;
    scope->note_asker(question.caller.agent);
  }
  if (scope->feeding() != Feeding::get) return;
  if (!there) return feeders_.got_nothing(std::move(scope));
  if (auto kept = feeders_.got(scope, response.body); !kept) {
    log_warn("object not cached", {{"path", scope->path()}, {"error", kept.error()}});
  }
}

void Reads::note_written(const sync::RequestInfo& info, const Caller& caller,
                         const http::Response& response) {
  const bool whole = info.subresource.empty() || info.subresource == "status";
  if (response.status < 200 || response.status >= 300 || !info.is_resource || !whole) return;
  std::string name = info.name;
  if (name.empty()) {
    const auto header = sync::read_any_header(response.body);
    if (header) name = header->name;
  }
  for (const sync::Encoding encoding : {sync::Encoding::json, sync::Encoding::protobuf}) {
    const ScopePtr scope = scopes_.find({.owner = caller.owner,
                                         .group = info.group,
                                         .version = info.version,
                                         .resource = info.resource,
                                         .namespace_name = info.namespace_name,
                                         .field_selector = "metadata.name=" + name,
                                         .encoding = std::string(to_string(encoding))});
    if (!scope) continue;
    if (scope->feeding() == Feeding::list_watch) {
      if (info.verb == "create") feeders_.created(scope, response.body);
      continue;
    }
    const bool shows_it = info.verb != "delete" && sync::encoding_of(response.body) == encoding;
    const bool taken = shows_it && feeders_.got(scope, response.body);
    if (!taken) feeders_.list_again({scope});
  }
}

bool Reads::may_cache(const Caller& caller) const {
  return caller.owner == node_owner || uplink_.owners().accepted(caller.owner);
}

// Null if there is no room.
ScopePtr Reads::open_scope(const store::ScopeKey& key) {
  auto opened = scopes_.open(key);
  if (opened) return *std::move(opened);
  log_warn(
      "list not cached",
      {{"resource", key.resource}, {"namespace", key.namespace_name}, {"error", opened.error()}});
  return nullptr;
}

// Whether the cloud must be asked even if the cache is complete: the caller has seen a newer state,
// may no longer read it, or the cache does not learn of changes.
bool Reads::only_the_cloud_knows(const Question& question) {
  if (!question.scope) return false;
  if (question.scope->refused() || question.scope->feeding() == Feeding::get) return true;
  const sync::WatchCache& cache = question.scope->cache();
  const bool hopeless = !question.scope->health().is_healthy() && !cache.complete();
  if (hopeless) return true;
  // A watch that is ahead of the cache waits until the cache has caught up.
  if (question.is_watch() && !question.query.flag("sendInitialEvents")) return false;
  const auto seen = sync::parse_version(question.query.get("resourceVersion"));
  return seen && !sync::is_local(*seen) && *seen > cache.version();
}

// Whether this is a watch from a version of the cloud that is older than the cache's history. The
// cloud may still serve it: it keeps a longer history.
bool Reads::is_before_the_cache(const Question& question) {
  if (!question.is_watch() || !question.scope || !question.scope->cache().complete()) return false;
  if (question.query.flag("sendInitialEvents")) return false;
  const auto from = sync::parse_version(question.query.get("resourceVersion"));
  if (!from || *from == 0 || sync::is_local(*from)) return false;
  return !question.scope->cache().position_of(*from);
}

asio::awaitable<bool> Reads::wait_until_complete(ScopePtr scope) {
  const MonoTime deadline = clock_.mono() + options_.read_deadline;
  while (!scope->cache().complete() && uplink_.link().may_ask() && scope->health().is_healthy()) {
    const bool changed = co_await scope->changed().wait_until(deadline);
    if (!changed) break;
  }
  co_return scope->cache().complete();
}

asio::awaitable<http::Response> Reads::serve_document(const http::Request& request,
                                                      const Caller& caller, FilterCall& call) {
  const std::string key = request.target + " " + std::string(request.headers.get("accept"));
  const bool readable = request.method == http::Method::get;
  if (uplink_.link().may_ask() || !readable) {
    http::Response response = co_await pass_through(request, options_.read_deadline);
    const bool worth = readable && may_cache(caller);
    if (response.status == 200 && worth && !response.stream) {
      const store::Answer answer{.status = 200,
                                 .content_type = std::string(response.headers.get("content-type")),
                                 .bytes = response.body};
      if (auto put = scopes_.put_answer(caller.owner, key, answer); !put) {
        log_warn("answer not cached", {{"path", request.path()}, {"error", put.error()}});
      }
    }
    const bool reached = response.status != 503 && response.status != 504;
    if (reached || !readable) co_return response;
  }
  const auto known = scopes_.find_answer(caller.owner, key);
  if (!known || !*known) {
    co_return unavailable(uplink_, "this document was never fetched");
  }
  call.from_cache = true;
  http::Response response{.status = (*known)->status, .body = (*known)->bytes};
  response.headers.set("Content-Type", (*known)->content_type);
  co_return response;
}

}  // namespace holdfast::agent
