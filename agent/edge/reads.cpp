#include "agent/edge/reads.h"

#include "agent/edge/answer.h"
#include "agent/edge/watch_stream.h"
#include "platform/http/wire.h"
#include "platform/log.h"
#include "platform/text.h"
#include "sync/api/selector.h"

namespace holdfast::agent {
namespace {

// The canonical text of a field selector, so that the same question is the same scope.
std::string canonical_fields(const std::string& text) {
  const auto query = sync::FieldQuery::parse(text);
  return query ? query->text() : text;
}

std::string canonical_labels(const std::string& text) {
  const auto query = sync::LabelQuery::parse(text);
  return query ? query->text() : text;
}

// What describes the API and changes only when the server is upgraded: worth keeping for any
// client, and no lie when it is old. Health and metrics are neither.
bool is_description(std::string_view path) {
  return path == "/version" || path == "/api" || path.starts_with("/api/") || path == "/apis" ||
         path.starts_with("/apis/") || path.starts_with("/openapi/");
}

bool names_local_version(const http::Request& request) {
  const auto query = http::Query::parse(request.query());
  return query && sync::is_local_version(query->get("resourceVersion"));
}

// The same request without asking for what only an API server can make of an object: filters could
// not read it. Nothing when the client takes nothing else.
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
  onward.headers.remove("accept-encoding");  // what is cached is cached plain
  return onward;
}

http::Response passed_on_or_why(Result<http::Response> response) {
  if (!response) {
    const Error& error = response.error();
    if (error.code == Errc::timeout) return to_response(sync::status::timeout(error.what, 1));
    const bool spent = error.code == Errc::exhausted;
    if (spent) return to_response(sync::status::too_many_requests(error.what, 1));
    return unavailable("the cloud is out of reach: " + error.what);
  }
  drop_connection_headers(response->headers, response->status == 101);
  return *std::move(response);
}

// Whether the API server asks somebody else in turn.
bool is_passed_on(const sync::RequestInfo& info) {
  return info.is_connect() || (info.resource == "pods" && info.subresource == "log");
}

}  // namespace

// One read, taken apart.
struct Reads::Question {
  sync::RequestInfo info;
  http::Query query;
  Caller caller;
  store::ScopeKey key;  // of the scope that answers exactly this
  ScopePtr scope;       // that answers it, maybe a wider one; null: none can be had
  bool newest = false;  // only the cloud knows
  FilterCall* call = nullptr;

  [[nodiscard]] bool is_list() const { return info.verb == "list"; }
  [[nodiscard]] bool is_watch() const { return info.verb == "watch"; }
  [[nodiscard]] sync::ObjectKey object() const { return {info.namespace_name, info.name}; }
};

Reads::Reads(const EdgeOptions& options, Scopes& scopes, Uplink& uplink, AnswerFilters& filters,
             const Clock& clock, Random& random)
    : options_(options),
      scopes_(scopes),
      uplink_(uplink),
      filters_(filters),
      clock_(clock),
      random_(random),
      pages_(clock, random) {}

asio::awaitable<http::Response> Reads::dial(const http::Request& request) {
  if (!uplink_.link().may_ask()) {
    co_return unavailable("the cloud is out of reach: " + uplink_.link().reason());
  }
  constexpr auto patience = std::chrono::seconds(40);  // kube-apiserver's own with a kubelet: 30 s
  const bool streamed = request.method != http::Method::head;
  auto response = co_await uplink_.forward(upstream_request(request), streamed, patience, false);
  if (response && response->stream && http::has_no_body(response->status)) {
    response->stream->cancel();
    response->stream.reset();
  }
  co_return passed_on_or_why(std::move(response));
}

asio::awaitable<http::Response> Reads::pass_through(const http::Request& request, Duration limit) {
  if (names_local_version(request)) {
    co_return to_response(sync::status::expired("the resource version was made here, not there"));
  }
  http::Request onward = upstream_request(request);
  const bool streamed = request.query().find("watch=") != std::string_view::npos ||
                        request.query().find("follow=") != std::string_view::npos ||
                        request.headers.has("upgrade");
  auto response = co_await uplink_.forward(std::move(onward), streamed, limit);
  co_return passed_on_or_why(std::move(response));
}

asio::awaitable<http::Response> Reads::serve(const http::Request& request,
                                             const sync::RequestInfo& info, const Caller& caller) {
  FilterCall call = co_await filters_.call_of(caller.agent, info);
  if (!filters_.view(call)) co_return co_await serve_seen(request, info, caller, call);
  const std::optional<http::Request> whole = for_whole_objects(request);
  if (!whole) co_return to_response(sync::status::generic(406));
  http::Response response = co_await serve_seen(*whole, info, caller, call);
  co_return co_await filters_.show(call, std::move(response));
}

asio::awaitable<http::Response> Reads::serve_seen(const http::Request& request,
                                                  const sync::RequestInfo& info,
                                                  const Caller& caller, FilterCall& call) {
  if (!info.is_resource && is_description(request.path())) {
    co_return co_await serve_document(request, caller);
  }
  if (is_passed_on(info)) co_return co_await dial(request);
  if (!caller.cached || !info.is_resource) {
    co_return co_await pass_through(request, options_.write_deadline);
  }
  const std::string_view accept = request.headers.get("accept");
  const auto encoding = sync::wanted_encoding(accept);
  const bool cacheable = info.subresource.empty() && encoding;
  if (!cacheable) co_return co_await pass_through(request, options_.write_deadline);

  Question question{.info = info, .caller = caller, .call = &call};
  auto query = http::Query::parse(request.query());
  if (!query) co_return to_response(sync::status::bad_request(query.error().what));
  question.query = *std::move(query);
  // A namespace is its own namespace in a RequestInfo, but namespaces are not namespaced.
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
  if (ours || sync::is_local_version(version)) question.newest = false;  // Nobody else knows it.
  co_return co_await serve_resource(request, std::move(question));
}

asio::awaitable<http::Response> Reads::serve_resource(const http::Request& request,
                                                      Question question) {
  if (!question.is_list() && !question.is_watch()) {
    question.scope = scopes_.covering(question.key, question.object(), true);
  }
  if (!question.scope) question.scope = scopes_.find(question.key);
  // Credentials that the cloud has not accepted yet may be made up: no room is taken for them.
  const bool trusted = question.scope || question.caller.owner == node_owner;
  if (!question.scope && trusted) question.scope = open_scope(question.key);
  if (question.scope) question.scope->note_use(clock_.mono());
  const bool complete = question.scope && question.scope->cache().complete();
  if (only_the_cloud_knows(question)) question.newest = true;
  if (uplink_.link().may_ask() && (question.newest || !question.scope)) {
    http::Request onward = upstream_request(request);
    const Duration limit = complete ? options_.read_deadline : options_.write_deadline;
    auto response = co_await uplink_.forward(std::move(onward), question.is_watch(), limit);
    if (response) {
      const bool accepted = uplink_.owners().accepted(question.caller.owner);
      if (!trusted && accepted && response->status == 200) (void)open_scope(question.key);
      drop_connection_headers(response->headers, false);
      co_return *std::move(response);
    }
  }
  if (!question.scope) co_return unavailable("the cloud is out of reach and this is not cached");
  bool usable = co_await wait_until_complete(question.scope);
  if (!usable) usable = scopes_.derive(*question.scope);
  if (!usable) {
    co_return unavailable("the cloud is out of reach and " + question.info.resource +
                          " were never completely received");
  }
  co_return co_await from_cache(std::move(question));
}

bool Reads::may_cache(const Caller& caller) const {
  return caller.owner == node_owner || uplink_.owners().accepted(caller.owner);
}

// Null when there is no more room.
ScopePtr Reads::open_scope(const store::ScopeKey& key) {
  auto opened = scopes_.open(key);
  if (opened) return *std::move(opened);
  log_warn(
      "list not cached",
      {{"resource", key.resource}, {"namespace", key.namespace_name}, {"error", opened.error()}});
  return nullptr;
}

// Whether the cache, complete as it may be, is not to be asked while the cloud is there: the caller
// has seen a newer state already, or has lost his right to see it.
bool Reads::only_the_cloud_knows(const Question& question) {
  if (!question.scope) return false;
  if (question.scope->refused()) return true;
  const bool hopeless =
      !question.scope->health().is_healthy() && !question.scope->cache().complete();
  if (hopeless) return true;
  if (question.is_watch()) return false;
  const auto seen = sync::parse_version(question.query.get("resourceVersion"));
  return seen && !sync::is_local(*seen) && *seen > question.scope->cache().version();
}

asio::awaitable<bool> Reads::wait_until_complete(ScopePtr scope) {
  const MonoTime deadline = clock_.mono() + options_.read_deadline;
  while (!scope->cache().complete() && uplink_.link().may_ask()) {
    const bool changed = co_await scope->changed().wait_until(deadline);
    if (!changed) break;
  }
  co_return scope->cache().complete();
}

asio::awaitable<http::Response> Reads::from_cache(Question question) {
  if (question.is_watch()) co_return co_await watch_from(std::move(question));
  http::Response response = question.is_list() ? list_from(question) : get_from(question);
  co_return response;
}

// A body made from the scope, with its type.
http::Response Reads::answer(const Question& question, std::string body) {
  http::Response response{.status = 200, .body = std::move(body)};
  const sync::Encoding encoding = question.scope->cache().kind().encoding;
  response.headers.set("Content-Type", std::string(sync::content_type(encoding)));
  return response;
}

http::Response Reads::list_from(const Question& question) {
  const sync::WatchCache& cache = question.scope->cache();
  const http::Query& query = question.query;
  const auto limit = parse_int<std::uint32_t>(query.get("limit")).value_or(0);
  if (query.has("continue")) {
    const auto token = sync::parse_page_token(query.get("continue"));
    if (!token) return to_response(sync::status::expired(std::string(sync::continue_expired)));
    const auto page = pages_.next(*question.scope, *token, limit);
    if (!page) return to_response(sync::status::expired(page.error().what));
    return page_answer(question, *page);
  }
  // An API server takes no notice of a limit, either, when any state will do.
  if (limit > 0 && query.get("resourceVersion") != "0") {
    return page_answer(question, pages_.first(*question.scope, limit));
  }
  std::vector<std::string_view> items;
  items.reserve(cache.objects().size());
  for (const auto& [key, object] : cache.objects()) items.emplace_back(*object.bytes);
  return answer(question, sync::list_body(cache.kind(), {.version = cache.version()}, items));
}

http::Response Reads::page_answer(const Question& question, const sync::ListPage& page) {
  std::vector<std::string_view> items;
  items.reserve(page.items.size());
  for (const sync::Bytes& item : page.items) items.emplace_back(*item);
  const sync::ScopeKind& kind = question.scope->cache().kind();
  return answer(question, sync::list_body(kind, page.part, items));
}

http::Response Reads::get_from(const Question& question) const {
  const sync::WatchCache& cache = question.scope->cache();
  const sync::CachedObject* object = cache.find(question.object());
  if (object == nullptr) {
    return to_response(
        sync::status::not_found({question.info.group, question.info.resource}, question.info.name));
  }
  return answer(question, sync::object_body(cache.kind(), *object->bytes));
}

// The watch as its filters show it; null: none can. Errors: unavailable (what they must know is not
// known), invalid (an object that can't be read).
asio::awaitable<Result<std::shared_ptr<ShownWatch>>> Reads::follow(
    ScopePtr scope, FilterCall call, std::optional<sync::Version> from) {
  std::shared_ptr<ShownWatch> shown;
  if (!filters_.may_concern(call)) co_return shown;
  shown = std::make_shared<ShownWatch>(filters_, std::move(call));
  const MonoTime until = filters_.deadline();
  for (;;) {
    CO_TRY(const std::optional<sync::filters::Need> need, shown->begin(scope->cache(), from));
    if (!need) co_return shown;
    const bool learnt = co_await filters_.learn(*need, until);
    if (learnt) continue;
    std::string why = scope->key().resource;
    why.append(" are not shown before ").append(to_string(*need)).append(" are known");
    co_return fail(Errc::unavailable, std::move(why));
  }
}

asio::awaitable<http::Response> Reads::watch_from(Question question) {
  const http::Query& query = question.query;
  // kube-apiserver's own habit: half an hour to an hour when the client does not say.
  const auto asked = parse_int<std::int32_t>(query.get("timeoutSeconds")).value_or(0);
  const Duration lasting =
      asked > 0 ? Duration(std::chrono::seconds(asked)) : Duration(30min) + random_.jitter(30min);
  WatchRequest watch{.initial_events_end = query.flag("sendInitialEvents"),
                     .bookmarks = query.flag("allowWatchBookmarks"),
                     .bookmark_interval = options_.bookmark_interval,
                     .end = clock_.mono() + lasting};
  const std::string_view from = query.get("resourceVersion");
  if (!from.empty() && from != "0" && !watch.initial_events_end) {
    watch.from = sync::parse_version(from);
    if (!watch.from) {
      std::string why = "resourceVersion: Invalid value: \"";
      why.append(from).append("\"");
      co_return to_response(sync::status::bad_request(std::move(why)));
    }
  }
  ScopePtr scope = question.scope;
  FilterCall call = *question.call;
  auto shown = co_await follow(std::move(scope), std::move(call), watch.from);
  if (!shown && shown.error().code == Errc::unavailable) co_return unavailable(shown.error().what);
  if (!shown) co_return to_response(sync::status::internal_error(shown.error().what));
  watch.shown = *std::move(shown);
  question.call->streamed = true;
  auto stream = open_watch(question.scope, watch, clock_);
  if (!stream) co_return to_response(sync::status::expired(stream.error().what));
  http::Response response{.status = 200};
  const sync::Encoding encoding = question.scope->cache().kind().encoding;
  response.headers.set("Content-Type", std::string(sync::watch_content_type(encoding)));
  response.stream = *std::move(stream);
  co_return response;
}

asio::awaitable<http::Response> Reads::serve_document(const http::Request& request,
                                                      const Caller& caller) {
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
    co_return unavailable("the cloud is out of reach and this was never asked before");
  }
  http::Response response{.status = (*known)->status, .body = (*known)->bytes};
  response.headers.set("Content-Type", (*known)->content_type);
  co_return response;
}

}  // namespace holdfast::agent
