#include "agent/edge/filters/answer_filters.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "agent/edge/cache/first_list.h"
#include "agent/edge/filters/filtered_stream.h"
#include "agent/edge/forward/unavailable.h"
#include "agent/edge/options/pods_address.h"
#include "agent/edge/route/answer.h"
#include "agent/edge/route/caller.h"
#include "platform/check.h"
#include "platform/log.h"
#include "platform/net/transport.h"
#include "platform/text.h"
#include "sync/filters/answers.h"

namespace holdfast::agent {
namespace {

using sync::filters::Effect;
using sync::filters::Filter;
using sync::filters::FilterKnowledge;
using sync::filters::Need;

// How often keep_up() checks for a refused scope while knowledge is missing.
constexpr auto look_again = std::chrono::seconds(1);
// How much of a list is filtered before others have their turn.
constexpr std::size_t filter_at_once = 256UL * 1024;

std::string encoding(sync::wire::Encoding wanted) { return std::string(to_string(wanted)); }

// In protobuf, as the kubelet asks for it, so that both share one cached list.
store::ScopeKey own_key(const char* resource) {
  return {.owner = std::string(node_owner),
          .version = "v1",
          .resource = resource,
          .encoding = encoding(sync::wire::Encoding::protobuf)};
}

bool redirects_to_agent(Filter filter) {
  return filter == Filter::master_service || filter == Filter::forward_kube_svc_traffic ||
         filter == Filter::service_env_updater;
}

http::Response cannot_filter(const Error& error) {
  return to_response(
      sync::wire::status::internal_error("the answer cannot be filtered: " + error.what));
}

}  // namespace

std::optional<sync::filters::MasterAddress> address_for_pods(const EdgeOptions& options) {
  if (const auto pods = pods_address(options.identity)) {
    return sync::filters::MasterAddress{pods->host, pods->port};
  }
  const auto at = net::HostPort::parse(options.identity.secure_listen);
  if (!at) return std::nullopt;
  const bool reachable = !at->host.starts_with("127.") && at->host != "::1" &&
                         at->host != "0.0.0.0" && at->host != "::" && at->host != "localhost";
  if (!reachable) return std::nullopt;
  return sync::filters::MasterAddress{at->host, at->port};
}

bool AnswerFilters::Source::has_news() {
  if (!scope) return false;
  const Source before = *this;
  seen = scope->cache().end();
  complete = scope->cache().complete();
  refused = scope->refused();
  return seen != before.seen || complete != before.complete || refused != before.refused;
}

AnswerFilters::AnswerFilters(asio::any_io_executor executor, const EdgeOptions& options,
                             Scopes& scopes, Uplink& uplink, const Clock& clock)
    : options_(options),
      scopes_(scopes),
      uplink_(uplink),
      clock_(clock),
      changed_(std::move(executor)),
      assignment_(options.filters.enabled, options.filters.disabled_filters()) {
  FilterKnowledge begin{.node_name = options.node_name};
  // The interface's address is added by use_pods_address() once the interface exists.
  if (!pods_address(options.identity)) begin.master = address_for_pods(options);
  begin.pool_topology = options.filters.pool_service_topology || options.filters.node_pool;
  if (const std::string& pool = options.filters.nodepool_name; !pool.empty()) {
    begin.node_pool = pool;
  }
  knowledge_ = std::make_shared<const FilterKnowledge>(std::move(begin));
}

void AnswerFilters::start() {
  if (options_.filters.hub_config.empty()) return;
  const auto parts = split(options_.filters.hub_config, '/');
  open(config_, {.owner = std::string(node_owner),
                 .version = "v1",
                 .resource = "configmaps",
                 .namespace_name = std::string(parts[0]),
                 .field_selector = "metadata.name=" + std::string(parts[1]),
                 .encoding = encoding(sync::wire::Encoding::json)});
  if (config_.scope) config_.scope->set_optional();
  refresh();
}

void AnswerFilters::use_pods_address() {
  FilterKnowledge knowledge = *knowledge_;
  knowledge.master = address_for_pods(options_);
  if (knowledge == *knowledge_) return;
  knowledge_ = std::make_shared<const FilterKnowledge>(std::move(knowledge));
  announce();
}

asio::awaitable<void> AnswerFilters::keep_up() {
  for (;;) {
    const MonoTime next = waits() ? clock_.mono() + look_again : MonoTime::max();
    (void)co_await scopes_.table().changed().wait_until(next);
    refresh();
  }
}

bool AnswerFilters::caches(const std::string& component) {
  refresh();
  return assignment_.caches(component);
}

// Waits for the ConfigMap. This happens only at a node's first start: later its scope is restored
// from disk.
asio::awaitable<void> AnswerFilters::settle() {
  const MonoTime until = deadline();
  while (config_.scope && !config_given_up_ && uplink_.link().allows_reads()) {
    if (config_.scope->cache().complete() || config_.scope->refused()) break;
    const bool news = co_await config_.scope->changed().wait_until(until);
    if (!news) config_given_up_ = true;
  }
}

asio::awaitable<FilterRequest> AnswerFilters::filter_request_of(
    const std::string& agent, const sync::objects::RequestInfo& info) {
  FilterRequest call{.component = agent, .group = info.group, .resource = info.resource};
  const bool whole = info.subresource.empty() || info.subresource == "status";
  if (!info.is_resource || !whole) co_return call;
  call.verb = info.verb;
  if (may_concern(call)) co_await settle();
  co_return call;
}

bool AnswerFilters::may_concern(const FilterRequest& call) const {
  return assignment_.may_concern(call.verb, call.group, call.resource);
}

std::uint64_t AnswerFilters::epoch() {
  refresh();
  return epoch_;
}

ViewPtr AnswerFilters::view(const FilterRequest& call) {
  if (call.verb.empty()) return nullptr;
  refresh();
  sync::filters::FilterChain chain =
      assignment_.chain_for(call.component, call.verb, call.group, call.resource);
  if (!knowledge_->master) std::erase_if(chain, redirects_to_agent);
  if (chain.empty()) return nullptr;
  ViewPtr& known = views_[chain];
  if (!known) {
    known = std::make_shared<const sync::filters::FilterView>(
        sync::filters::FilterView{chain, knowledge_});
  }
  return known;
}

http::Response AnswerFilters::unavailable_before(Need need, std::string_view resource) const {
  std::string why(resource);
  why.append(" cannot be filtered before ").append(to_string(need)).append(" are known");
  return unavailable(uplink_, why);
}

asio::awaitable<http::Response> AnswerFilters::filter_response(const FilterRequest& call,
                                                               http::Response response) {
  if (response.stream && view(call)) response.stream = filtered_stream(*this, call, response);
  if (response.pieces && view(call)) co_return co_await filter_list(call, std::move(response));
  const MonoTime until = deadline();
  const bool good = response.status >= 200 && response.status < 300;
  // Each round may find that more knowledge is missing, and waits for it.
  while (good && !response.stream && !response.body.empty()) {
    const ViewPtr how = view(call);
    if (!how) break;
    auto shown = sync::filters::filter_body(how->chain, *how->knowledge, response.body);
    if (!shown) co_return cannot_filter(shown.error());
    if (shown->effect == Effect::dropped) {
      const sync::wire::GroupResource resource{call.group, call.resource};
      co_return to_response(sync::wire::status::not_found(resource, ""));
    }
    if (shown->effect == Effect::changed) response.body = std::move(shown->bytes);
    if (shown->effect != Effect::unknown) break;
    const bool learnt = co_await wait_for(shown->need, until);
    if (!learnt) co_return unavailable_before(shown->need, call.resource);
  }
  co_return response;
}

asio::awaitable<http::Response> AnswerFilters::filter_list(const FilterRequest& call,
                                                           http::Response response) {
  const auto list = std::dynamic_pointer_cast<CachedList>(response.pieces);
  CHECK(list);  // Nothing else comes in pieces.
  const MonoTime until = deadline();
  for (;;) {
    const ViewPtr how = view(call);
    if (!how) co_return response;
    const auto shown = co_await filtered_items(how, list);
    if (!shown) {
      const bool too_large = shown.error().code == Errc::exhausted;
      co_return too_large ? status_problem(507, shown.error().what) : cannot_filter(shown.error());
    }
    if (!shown->need) {
      response.pieces = std::make_shared<CachedList>(list->kind(), list->part(), shown->items);
      co_return response;
    }
    const bool learnt = co_await wait_for(*shown->need, until);
    if (!learnt) co_return unavailable_before(*shown->need, call.resource);
  }
}

asio::awaitable<Result<AnswerFilters::ShownItems>> AnswerFilters::filtered_items(
    ViewPtr how, std::shared_ptr<const CachedList> list) {
  const std::size_t most = scopes_.table().limits().scope_bytes;
  ShownItems shown;
  std::size_t changed = 0;
  std::size_t read = 0;
  for (const sync::watch::Body& item : list->items()) {
    const auto cached = item.load();
    if (!cached) co_return fail(cached.error());
    auto filtered = sync::filters::filter_object(how->chain, *how->knowledge, **cached);
    if (!filtered) co_return fail(filtered.error());
    if (filtered->effect == Effect::unknown) {
      shown.need = filtered->need;
      co_return shown;
    }
    if (filtered->effect == Effect::changed) {
      changed += filtered->bytes.size();
      if (changed > most) {
        co_return fail(Errc::exhausted, "filters would change more than " + std::to_string(most) +
                                            " bytes of this list: ask for pages");
      }
      shown.items.emplace_back(std::make_shared<const std::string>(std::move(filtered->bytes)));
    } else if (filtered->effect != Effect::dropped) {
      shown.items.push_back(item);
    }
    // A large list must not keep the heartbeats waiting.
    read += item.size();
    if (read < filter_at_once) continue;
    read = 0;
    co_await asio::post(asio::use_awaitable);
  }
  co_return shown;
}

asio::awaitable<bool> AnswerFilters::wait_for(Need need, MonoTime deadline) {
  const MonoTime began = clock_.mono();
  want(need);
  while (!knows(need)) {
    const ScopePtr scope = source_of(need).scope;
    if (!scope || scope->refused() || !uplink_.link().allows_reads()) break;
    // From time to time, because the link may be lost meanwhile.
    const bool has_changed = co_await scope->changed().wait_until(deadline);
    const MonoTime now = clock_.mono();
    if (!has_changed && !is_arriving(*scope, uplink_.bytes(), began, now)) break;
    if (!has_changed) deadline = now + options_.read_deadline;
    want(need);
  }
  co_return knows(need);
}

void AnswerFilters::want(Need need) {
  Source& source = source_of(need);
  if (need == Need::services && !source.scope) open(source, shared(own_key("services")));
  if (need == Need::node && !source.scope) {
    store::ScopeKey key = own_key("nodes");
    key.field_selector = "metadata.name=" + options_.node_name;
    open(source, shared(std::move(key)));
  }
  const std::string pool = knowledge_->node_pool.value_or("");
  if (need == Need::pool_nodes && !pool.empty() && !source.scope) open(source, pool_key(pool));
  refresh();
}

store::ScopeKey AnswerFilters::shared(store::ScopeKey key) const {
  store::ScopeKey json = key;
  json.encoding = encoding(sync::wire::Encoding::json);
  return scopes_.table().find(json) && !scopes_.table().find(key) ? json : key;
}

void AnswerFilters::open(Source& source, const store::ScopeKey& key) {
  auto opened = scopes_.open(key);
  if (opened) {
    source.scope = *std::move(opened);
    source.scope->add_watch();  // Read as long as the agent runs, so it must not be dropped.
  } else {
    log_warn("no room in the cache for a list that filters need",
             {{"resource", key.resource}, {"error", opened.error()}});
  }
}

}  // namespace holdfast::agent
