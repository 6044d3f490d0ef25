#include "agent/edge/answers/read_handler.h"

#include "agent/edge/forward/unavailable.h"
#include "sync/objects/list_options.h"

namespace holdfast::agent {
namespace {

// Whether the cloud must be asked even if the cache is complete: the caller has seen a newer state,
// may no longer read it, or the cache does not learn of changes.
bool only_the_cloud_knows(const CacheQuery& query) {
  if (!query.scope) return false;
  if (query.scope->refused() || query.scope->fetch_mode() == FetchMode::get) return true;
  const sync::watch::WatchCache& cache = query.scope->cache();
  const bool hopeless = !query.scope->health().is_healthy() && !cache.complete();
  if (hopeless) return true;
  // A watch that is ahead of the cache waits until the cache has caught up; see make_current().
  if (query.request.is_watch()) return false;
  return !sync::objects::is_local(query.version) && query.version > cache.server_version();
}

// Whether this is a watch from a version of the cloud that is older than the cache's history. The
// cloud may still serve it: it keeps a longer history.
bool is_before_the_cache(const CacheQuery& query) {
  const bool cached = query.scope && query.scope->cache().complete();
  if (!cached || !query.request.is_watch() || wants_initial_events(query.options)) return false;
  if (query.version == 0 || sync::objects::is_local(query.version)) return false;
  return !query.scope->cache().position_of(query.version);
}

}  // namespace

ReadHandler::ReadHandler(const Settings& settings, Scopes& scopes, LocalVersions& versions,
                         ScopeReflectors& reflectors, Uplink& uplink, Forwarder& forwarder,
                         AnswerCache& answer_cache, AnswerFilters& filters, const Clock& clock,
                         Random& random)
    : settings_(settings),
      scopes_(scopes),
      versions_(versions),
      reflectors_(reflectors),
      uplink_(uplink),
      forwarder_(forwarder),
      answer_cache_(answer_cache),
      filters_(filters),
      clock_(clock),
      random_(random),
      pages_(scopes.snapshots(), random) {}

asio::awaitable<RoutedAnswer> ReadHandler::serve(const RoutedRequest& request,
                                                 const FilterRequest& call) {
  RoutedAnswer answer;
  scopes_.snapshots().drop_expired();
  const auto encoding = request.inner_accept.encoding().value_or(sync::wire::Encoding::json);
  CacheQuery query = query_of(request, encoding);
  query.began = clock_.mono();
  find_scope(query);
  const bool complete = query.scope && query.scope->cache().complete();
  if (!complete || asks_cloud(query)) {
    auto response = co_await from_cloud(query);
    if (response) {
      answer.response = *std::move(response);
      co_return answer;
    }
  }
  if (request.is_watch()) co_await make_current(query);
  answer.from_cache = true;
  if (auto refusal = refusal_of(query)) {
    answer.response = *std::move(refusal);
    co_return answer;
  }
  if (request.is_watch()) co_return co_await serve_watch(query, call);
  answer.response = request.is_list() ? list_from(query) : get_from(query);
  co_return answer;
}

asio::awaitable<void> ReadHandler::make_current(const CacheQuery& query) {
  if (query.refusal || !wants_initial_events(query.options)) co_return;
  if (!uplink_.link().allows_reads()) co_return;
  const bool newest = consistency_of(query.options) == sync::objects::Consistency::newest;
  const bool is_ahead = !sync::objects::is_local(query.version) &&
                        query.version > query.scope->cache().server_version();
  if (!newest && !is_ahead) co_return;
  const MonoTime deadline = query.began + settings_.deadlines.read;
  (void)co_await reflectors_.make_current(query.scope, query.began, deadline);
}

asio::awaitable<RoutedAnswer> ReadHandler::serve_watch(const CacheQuery& query,
                                                       const FilterRequest& call) {
  RoutedAnswer answer{.from_cache = true};
  WatchRequest watch = watch_request(query);
  const MonoTime until = filters_.deadline();
  if (filters_.may_concern(call)) watch.shown = std::make_shared<FilteredWatch>(filters_, call);
  while (watch.shown) {
    const auto need = watch.shown->begin(query.scope->cache(), watch.from);
    if (need && !*need) break;
    const bool learnt = need && co_await filters_.wait_for(**need, until);
    if (learnt) continue;
    answer.response = need ? filters_.unavailable_before(**need, query.request.info.resource)
                           : to_response(sync::wire::status::internal_error(need.error().what));
    co_return answer;
  }
  answer.filtered = true;
  answer.response = watch_from(query, watch);
  co_return answer;
}

asio::awaitable<std::optional<http::Response>> ReadHandler::from_cloud(CacheQuery& query) {
  const RoutedRequest& request = query.request;
  std::optional<http::Response> response;
  if (asks_cloud(query)) response = co_await ask_cloud(query);
  if (response) co_return response;
  if (request.is_get() && !query.scope) {
    store::ScopeKey in_any_encoding = query.key;
    in_any_encoding.encoding.clear();
    query.scope = scopes_.covering(in_any_encoding, query.object(), true);
  }
  if (!query.scope) co_return unavailable(uplink_, "this is not cached");
  const bool complete = co_await wait_until_complete(query.scope);
  // Asks the cloud if the scope cannot be listed, or was listed too late for this request.
  if (asks_cloud(query)) response = co_await ask_cloud(query);
  if (!response && !complete && !scopes_.derive(*query.scope)) {
    response = unavailable(uplink_, request.info.resource + " were never completely received");
  }
  co_return response;
}

// Finds or opens the scope that answers the request: its own or, for one object, any that contains
// it.
void ReadHandler::find_scope(CacheQuery& query) {
  const Caller& caller = query.request.caller;
  if (query.request.is_get()) {
    query.scope = scopes_.covering(query.key, query.object(), true);
    if (!query.scope) query.scope = scopes_.find(query.key);
  } else {
    query.scope = scopes_.find(query.key);
    // Credentials that the cloud has not accepted yet may be invented: no scope is opened for them.
    const bool trusted = caller.owner == node_owner || scopes_.can_derive(query.key);
    if (!query.scope && trusted) query.scope = answer_cache_.open(query.key);
  }
  if (!query.scope) return;
  query.scope->note_use(clock_.mono());
  query.scope->record_requester(caller.agent);
}

bool ReadHandler::asks_cloud(const CacheQuery& query) const {
  if (query.asked || !uplink_.link().allows_reads()) return false;
  return query.newest || !query.scope || only_the_cloud_knows(query) || is_before_the_cache(query);
}

asio::awaitable<std::optional<http::Response>> ReadHandler::ask_cloud(CacheQuery& query) {
  query.asked = true;
  // If the cache could answer instead, the cloud gets less time. It waits for a version that is
  // ahead of its own, before it says so.
  const bool can_wait = !query.scope || !query.scope->cache().complete() ||
                        only_the_cloud_knows(query) || is_before_the_cache(query);
  const Duration limit = can_wait ? settings_.deadlines.write : settings_.deadlines.read;
  const bool moves = can_wait && query.request.is_list();
  const Delivery delivery = moves ? Delivery::moving : Delivery::whole_if_it_fits;
  auto response = co_await forwarder_.try_forward(query.request, limit, delivery);
  if (!response) co_return std::nullopt;
  answer_cache_.keep(query, *response);
  co_return *std::move(response);
}

asio::awaitable<bool> ReadHandler::wait_until_complete(ScopePtr scope) {
  const MonoTime deadline = clock_.mono() + settings_.deadlines.read;
  while (!scope->cache().complete() && uplink_.link().allows_reads() &&
         scope->health().is_healthy()) {
    const bool changed = co_await scope->changed().wait_until(deadline);
    if (!changed) break;
  }
  co_return scope->cache().complete();
}

}  // namespace holdfast::agent
