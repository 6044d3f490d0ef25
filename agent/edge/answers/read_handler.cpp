#include "agent/edge/answers/read_handler.h"

#include "agent/edge/cache/first_list.h"
#include "agent/edge/forward/unavailable.h"
#include "sync/objects/list_options.h"

namespace holdfast::agent {
namespace {

using sync::autonomy::ReadSource;

}  // namespace

ReadHandler::ReadHandler(const Settings& settings, ScopeTable& scopes, ScopeContent& content,
                         LocalVersions& versions, ScopeReflectors& reflectors, Uplink& uplink,
                         Forwarder& forwarder, AnswerCache& answer_cache, AnswerFilters& filters,
                         const Clock& clock, Random& random)
    : settings_(settings),
      scopes_(scopes),
      content_(content),
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
  if (source_of(facts_of(query, false)) != ReadSource::cache) {
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
  bool has_waited = false;
  for (;;) {
    const ReadSource source = source_of(facts_of(query, has_waited));
    if (source == ReadSource::cache) co_return std::nullopt;
    if (source == ReadSource::nothing) co_return last_resort(query);
    if (source == ReadSource::wait) {
      // The objects of another scope are here at once; those of a list that takes longer are not.
      if (has_waited && content_.derive(*query.scope)) co_return std::nullopt;
      co_await wait_until_complete(query.scope);
      has_waited = true;
      continue;
    }
    auto response = co_await ask_cloud(query, source == ReadSource::cloud_before);
    if (response) co_return response;
  }
}

// Looks for the answer in scopes that were opened for other requests.
std::optional<http::Response> ReadHandler::last_resort(CacheQuery& query) {
  if (query.request.is_get() && !query.scope) {
    store::ScopeKey in_any_encoding = query.key;
    in_any_encoding.encoding.clear();
    query.scope = scopes_.covering(in_any_encoding, query.object(), true);
  }
  if (!query.scope) return unavailable(uplink_, "this is not cached");
  if (query.scope->cache().complete() || content_.derive(*query.scope)) return std::nullopt;
  return unavailable(uplink_, query.request.info.resource + " were never completely received");
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
    const bool trusted = caller.owner == node_owner || !scopes_.wider_than(query.key).empty();
    if (!query.scope && trusted) query.scope = answer_cache_.open(query.key);
  }
  if (!query.scope) return;
  query.scope->note_use(clock_.mono());
  query.scope->record_requester(caller.agent);
}

sync::autonomy::ReadFacts ReadHandler::facts_of(const CacheQuery& query, bool has_waited) const {
  sync::autonomy::ReadFacts facts{.is_watch = query.request.is_watch(),
                                  .wants_newest = query.newest,
                                  .wants_initial_events = wants_initial_events(query.options),
                                  .version = query.version,
                                  .has_scope = query.scope != nullptr,
                                  .link_allows_reads = uplink_.link().allows_reads(),
                                  .answers_late = uplink_.answers_late(),
                                  .was_asked = query.asked,
                                  .has_waited = has_waited};
  if (!query.scope) return facts;
  const sync::watch::WatchCache& cache = query.scope->cache();
  facts.is_complete = cache.complete();
  facts.is_arriving = is_arriving(*query.scope, uplink_.bytes(), query.began, clock_.mono());
  facts.is_large = query.scope->keeps_on_disk();
  facts.learns_changes = !query.scope->refused() && query.scope->fetch_mode() != FetchMode::get;
  facts.is_healthy = query.scope->health().is_healthy();
  const bool from_version = facts.is_watch && facts.is_complete && query.version != 0;
  facts.reaches_version = !from_version || cache.position_of(query.version).has_value();
  facts.server_version = cache.server_version();
  return facts;
}

asio::awaitable<std::optional<http::Response>> ReadHandler::ask_cloud(CacheQuery& query,
                                                                      bool before_cache) {
  query.asked = true;
  // If the cache could answer instead, the cloud gets less time. It waits for a version that is
  // ahead of its own, before it says so.
  const Duration limit = before_cache ? settings_.deadlines.read : settings_.deadlines.write;
  const bool moves = !before_cache && query.request.is_list();
  const Delivery delivery = moves ? Delivery::moving : Delivery::whole_if_it_fits;
  std::unique_ptr<ForwardedList> list;
  const bool is_first = query.scope && !query.scope->cache().complete();
  if (is_first && moves) list = std::make_unique<ForwardedList>(query.scope);
  auto response = co_await forwarder_.try_forward(query.request, limit, delivery);
  if (!response) co_return std::nullopt;
  answer_cache_.keep(query, *response);
  last_until_read(std::move(list), *response);
  co_return *std::move(response);
}

asio::awaitable<void> ReadHandler::wait_until_complete(ScopePtr scope) {
  const MonoTime deadline = clock_.mono() + settings_.deadlines.read;
  const auto may_soon_be = [&scope] {
    return scope->health().is_healthy() && !scope->keeps_on_disk();
  };
  while (!scope->cache().complete() && uplink_.link().allows_reads() && may_soon_be()) {
    const bool changed = co_await scope->changed().wait_until(deadline);
    if (!changed) co_return;
  }
}

}  // namespace holdfast::agent
