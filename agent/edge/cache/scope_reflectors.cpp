#include "agent/edge/cache/scope_reflectors.h"

#include <algorithm>

#include "agent/edge/cache/scope_sink.h"
#include "agent/edge/route/caller.h"
#include "platform/check.h"
#include "platform/log.h"
#include "sync/autonomy/read_source.h"
#include "sync/watch/cache_limits.h"

namespace holdfast::agent {
namespace {

constexpr auto request_limit = std::chrono::seconds(20);
// See list_granted().
constexpr auto granted_pause = std::chrono::minutes(1);

// A ListWatchSource that sends with the credentials of a scope's owner, and a list only when it is
// the scope's turn.
class OwnerSource final : public ListWatchSource {
 public:
  OwnerSource(ScopeReflectors& reflectors, ScopePtr scope, std::string authorization)
      : reflectors_(reflectors),
        scope_(std::move(scope)),
        authorization_(std::move(authorization)) {}

  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override {
    request.authorization = authorization_;
    if (!streamed) co_await reflectors_.wait_for_turn(scope_);
    co_return co_await reflectors_.send(std::move(request), streamed);
  }

 private:
  ScopeReflectors& reflectors_;
  ScopePtr scope_;
  std::string authorization_;
};

asio::awaitable<void> list_watch(ListWatchTarget target, ScopeReflectors& reflectors,
                                 std::string authorization, ScopeContent& content, ScopePtr scope,
                                 const Clock& clock, Random& random) {
  OwnerSource source(reflectors, scope, std::move(authorization));
  ScopeSink sink(reflectors, content, std::move(scope));
  co_await run_list_watch(std::move(target), source, sink, clock, random);
}

}  // namespace

int turn_of(const store::ScopeKey& key) {
  if (key.resource == "nodes") return 0;
  if (key.resource == "pods") return 1;
  if (key.resource == "configmaps" || key.resource == "secrets") return 2;
  if (key.resource == "services") return 3;
  return 4;
}

BytePoolLimits receive_pool_limits(std::size_t scope_bytes) {
  const std::size_t foreign =
      std::max(receive_limits.foreign, sync::watch::foreign_scope_bytes(scope_bytes));
  const std::size_t bytes = std::max(receive_limits.bytes, foreign + scope_bytes);
  return {.bytes = bytes, .own = bytes, .foreign = foreign};
}

ScopeReflectors::ScopeReflectors(asio::any_io_executor executor, ScopeTable& table,
                                 ScopeContent& content, Uplink& uplink, OnHealth on_health,
                                 const Clock& clock, Random& random)
    : executor_(executor),
      table_(table),
      content_(content),
      uplink_(uplink),
      clock_(clock),
      random_(random),
      receive_pool_(receive_pool_limits(table.limits().scope_bytes),
                    "unfinished lists and watch events"),
      on_health_(std::move(on_health)),
      tasks_(std::move(executor)) {}

asio::awaitable<void> ScopeReflectors::feed_all() {
  for (;;) {
    for (const auto& [key, scope] : table_.all()) {
      const bool is_new = feeds_.try_emplace(scope->number()).second;
      if (is_new) tasks_.spawn("feed " + key.resource, run_reflector(scope));
    }
    forget_owners();
    uplink_.changed().notify_all();  // so that removed scopes are noticed
    co_await table_.membership().wait();
  }
}

void ScopeReflectors::forget_owners() {
  const auto& all = table_.all();
  std::erase_if(authorizations_, [&all](const auto& known) {
    const auto of_owner = [&known](const auto& each) { return each.first.owner == known.first; };
    return std::none_of(all.begin(), all.end(), of_owner);
  });
}

ScopeReflectors::Feed* ScopeReflectors::feed_of(const LocalScope& scope) {
  const auto feed = feeds_.find(scope.number());
  return feed == feeds_.end() ? nullptr : &feed->second;
}

bool ScopeReflectors::restarts(const LocalScope& scope) {
  const Feed* const feed = feed_of(scope);
  return feed != nullptr && feed->restart;
}

void ScopeReflectors::set_credentials(const std::string& owner, std::string authorization) {
  const auto& all = table_.all();
  const auto of_owner = [&owner](const auto& each) { return each.first.owner == owner; };
  if (std::none_of(all.begin(), all.end(), of_owner)) return;
  // Credentials that the API server has just rejected are not used again with each of the caller's
  // requests.
  if (uplink_.owners().rejected(owner)) return;
  std::string& known = authorizations_[owner];
  if (known == authorization) return;
  known = std::move(authorization);
  uplink_.changed().notify_all();
}

asio::awaitable<void> ScopeReflectors::begin_turns(sync::objects::Version shown) {
  turns_began_ = clock_.mono();
  resumption_.begin(shown);
  // The versions of what other callers ask for may be counted by another server.
  for (const auto& [key, scope] : table_.all()) {
    if (key.owner == node_owner) resumption_.note(scope->cache());
  }
  for (int turn = 0; turn < turns; ++turn) {
    watching_ = turn;
    uplink_.changed().notify_all();
    // On a slow line, what is asked for first comes first.
    co_await asio::post(asio::use_awaitable);
  }
}

void ScopeReflectors::admit(int turn) {
  listing_ = turn;
  uplink_.changed().notify_all();
}

void ScopeReflectors::end_turns() {
  watching_ = -1;
  listing_ = -1;
  for (auto& [number, feed] : feeds_) feed.is_unsettled = false;
}

static bool is_rejoining(const Uplink& uplink) {
  return uplink.link().state() == sync::autonomy::LinkState::rejoining;
}

asio::awaitable<void> ScopeReflectors::wait_for_turn(ScopePtr scope) {
  while (is_rejoining(uplink_) && turn_of(scope->key()) > listing_) {
    co_await uplink_.changed().wait();
  }
  // A client that reads slowly does not keep the list out of the cache.
  const MonoTime until =
      scope->listing_since().value_or(clock_.mono()) + sync::autonomy::first_list_limit;
  while (scope->is_forwarded() && !scope->cache().complete()) {
    if (!co_await scope->changed().wait_until(until)) break;
  }
}

bool ScopeReflectors::has_credentials(const LocalScope& scope) const {
  const std::string& owner = scope.key().owner;
  return owner == node_owner || authorizations_.contains(owner);
}

bool ScopeReflectors::may_fetch(const LocalScope& scope) const {
  if (scope.is_detached()) return false;
  if (!has_credentials(scope)) return false;
  switch (uplink_.link().state()) {
    case sync::autonomy::LinkState::connected:
    case sync::autonomy::LinkState::suspect:
      return true;
    case sync::autonomy::LinkState::offline:
      return false;
    case sync::autonomy::LinkState::rejoining:
      return turn_of(scope.key()) <= watching_;
  }
  return false;
}

// A scope whose list only took too long, or was cut off, is served well by a watch.
sync::watch::Doubt ScopeReflectors::doubt_of(const LocalScope& scope) {
  if (scope.derived()) return sync::watch::Doubt::derived;
  if (scope.is_outdated()) return sync::watch::Doubt::outdated;
  const bool doubtful = scope.health().would_fail_again();
  return doubtful ? sync::watch::Doubt::unreadable : sync::watch::Doubt::none;
}

// Feeds one scope until it is retired. A task feeds it as long as the link allows that; it is
// cancelled and started again when the link comes back or list_again() was called.
asio::awaitable<void> ScopeReflectors::run_reflector(ScopePtr scope) {
  MonoTime since = MonoTime::min();  // lists before this time are outdated
  for (;;) {
    while (!may_fetch(*scope) && !scope->is_detached()) co_await uplink_.changed().wait();
    if (scope->is_detached()) break;
    // After an outage, or when first fed, the scope is tried in its usual way again: a refused list
    // may be granted now.
    Feed& feed = feeds_.at(scope->number());
    const std::optional<Restart> restart = std::exchange(feed.restart, {});
    if (!restart) feed.is_renewed = false;
    if (!restart) scope->set_fetch_mode(scope->default_fetch_mode());
    const auto online = std::make_shared<loop::Tasks>(executor_);
    feed.online = online;
    const MonoTime list_due = restart ? MonoTime::min() : scope->health().list_due();
    online->spawn("feed",
                  reflect_while_online(scope, since, resume_from(*scope, restart), list_due));
    while (may_fetch(*scope) && !feed.restart) {
      co_await uplink_.changed().wait();
    }
    online->cancel();
    co_await online->join();
    since = clock_.mono();
  }
  feeds_.erase(scope->number());
}

std::string ScopeReflectors::resume_from(const LocalScope& scope, std::optional<Restart> restart) {
  if (restart == Restart::list) return "";
  const Feed* const feed = feed_of(scope);
  return resumption_.resume_from(scope.cache(), doubt_of(scope),
                                 feed != nullptr && feed->is_unsettled);
}

asio::awaitable<void> ScopeReflectors::reflect_while_online(const ScopePtr& scope, MonoTime since,
                                                            std::string resume_from,
                                                            MonoTime list_due) {
  const auto credentials = authorizations_.find(scope->key().owner);
  std::string authorization;
  if (credentials != authorizations_.end()) authorization = credentials->second;
  if (scope->fetch_mode() == FetchMode::get) {
    return refresh_by_get(scope, std::move(authorization), since);
  }
  ListWatchTarget target{
      .path = scope->path(),
      .label_selector = scope->key().label_selector,
      .field_selector = scope->key().field_selector,
      .resume_from = std::move(resume_from),
      .list_due = list_due,
      .ask_protobuf =
          scope->key().encoding == sync::wire::to_string(sync::wire::Encoding::protobuf),
      .answer_may_be_list = scope->key().owner == node_owner && !scope->keeps_on_disk(),
      .frames = {.document_bytes = receive_limits.event},
      .reflector = {.first_list_version = "",
                    .page_bytes = scope->keeps_on_disk() ? receive_limits.page : 0,
                    .list_bytes = scope->keeps_on_disk() ? table_.limits().list_bytes()
                                                         : table_.limits().scope_bytes,
                    .list_items = table_.limits().scope_objects,
                    .by_page = scope->keeps_on_disk(),
                    .list_backoff = scope_retry.backoff,
                    .refused_pause = scope_retry.refused_pause,
                    .granted = scope->cache().complete(),
                    .too_large = scope_retry.too_large}};
  target.reflector.too_large.before = scope->health().too_large();
  return list_watch(std::move(target), *this, std::move(authorization), content_, scope, clock_,
                    random_);
}

void ScopeReflectors::cancel() {
  tasks_.cancel();
  for (const auto& [number, feed] : feeds_) {
    if (feed.online) feed.online->cancel();
  }
}

asio::awaitable<void> ScopeReflectors::join() {
  co_await tasks_.join();
  cancel();  // A feed may have started tasks just before it ended.
  for (const auto& [number, feed] : feeds_) {
    if (feed.online) co_await feed.online->join();
  }
}

asio::awaitable<Result<http::Response>> ScopeReflectors::send(ApiRequest request, bool streamed) {
  return send_within(std::move(request), streamed, request_limit);
}

asio::awaitable<Result<http::Response>> ScopeReflectors::send_within(ApiRequest request,
                                                                     bool streamed,
                                                                     Duration limit) {
  auto response =
      co_await uplink_.send(std::move(request), streamed, limit, TimeoutMeaning::of_request);
  // The timeout may be the scope's or the link's fault. The next probe decides.
  if (!response && response.error().code == Errc::timeout) uplink_.probe_now();
  if (response && response->status == 401) forget_rejected();
  co_return response;
}

void ScopeReflectors::forget_rejected() {
  const auto rejected = [this](const auto& each) { return uplink_.owners().rejected(each.first); };
  if (std::erase_if(authorizations_, rejected) > 0) uplink_.changed().notify_all();
}

std::vector<ScopePtr> ScopeReflectors::awaited_in(int turn) const {
  std::vector<ScopePtr> found;
  for (const auto& [key, scope] : table_.all()) {
    if (turn_of(key) != turn || !has_credentials(*scope)) continue;
    const bool is_hopeless = scope->refused() || clock_.mono() < scope->health().list_due();
    if (!is_hopeless && !scope->optional()) found.push_back(scope);
  }
  return found;
}

void ScopeReflectors::list_again(const std::vector<ScopePtr>& scopes) {
  for (const ScopePtr& scope : scopes) restart(*scope, Restart::list);
}

void ScopeReflectors::restart(const LocalScope& scope, Restart how) {
  Feed* const feed = feed_of(scope);
  if (feed == nullptr) return;  // It begins soon, or the scope was removed.
  feed->restart = how;
  feed->is_restarting = true;
  uplink_.changed().notify_all();
}

void ScopeReflectors::list_all_again() {
  std::vector<ScopePtr> all;
  for (const auto& [key, scope] : table_.all()) {
    scope->set_outdated(true);
    all.push_back(scope);
  }
  list_again(all);
}

void ScopeReflectors::list_granted(const ScopePtr& scope) {
  const ScopeHealth& health = scope->health();
  const bool only_watch = health.is_refused() && health.part() == ScopeHealth::Part::watch;
  const bool is_limited = only_watch || health.too_large() > 0;
  if (is_limited && clock_.mono() - health.failed_at() < granted_pause) return;
  // A list that is under way answers as well.
  if (scope->listing_since() || restarts(*scope)) return;
  list_again({scope});
}

asio::awaitable<bool> ScopeReflectors::make_current(ScopePtr scope, MonoTime asked,
                                                    MonoTime deadline) {
  while (scope->current_as_of() < asked) {
    const bool listable = scope->fetch_mode() == FetchMode::list_watch && may_fetch(*scope);
    if (!listable || !scope->health().is_healthy()) co_return false;
    // A list that began before `asked` may be too old. It is awaited nevertheless: if each caller
    // began a new one, none might ever end.
    Feed* const feed = feed_of(*scope);
    const bool is_coming = scope->listing_since() || (feed != nullptr && feed->is_renewed);
    if (feed != nullptr && !is_coming) {
      feed->is_renewed = true;
      list_again({scope});
    }
    if (!co_await scope->changed().wait_until(deadline)) co_return false;
  }
  co_return true;
}

void ScopeReflectors::note_list_begins(LocalScope& scope) {
  if (Feed* const feed = feed_of(scope)) feed->is_renewed = false;
  scope.begin_list(clock_.mono());
}

void ScopeReflectors::note_watch(LocalScope& scope) {
  scope.set_refreshed_at(clock_.mono());
  note_answer(scope);
  note_success(scope, ScopeHealth::Part::list);
  scope.changed().notify_all();
}

bool ScopeReflectors::was_refreshed(const LocalScope& scope, MonoTime since) const {
  if (scope.is_detached()) return true;
  if (is_restarting(scope)) return false;
  return scope.refreshed_at() >= since || scope.health().failed_at() >= since;
}

asio::awaitable<bool> ScopeReflectors::wait_until_refreshed(std::vector<ScopePtr> scopes,
                                                            MonoTime since, MonoTime deadline) {
  for (const ScopePtr& scope : scopes) {
    while (!was_refreshed(*scope, since)) {
      const bool changed = co_await scope->changed().wait_until(deadline);
      if (!changed) co_return false;
    }
  }
  co_return true;
}

void ScopeReflectors::give_up_waiting(const std::vector<ScopePtr>& scopes, MonoTime since) {
  for (const ScopePtr& scope : scopes) {
    if (was_refreshed(*scope, since)) continue;
    const auto waited = clock_.mono() - since;
    note_failure(*scope, ScopeHealth::Part::list,
                 {.code = Errc::timeout,
                  .what = "neither listed nor watched within " + format_duration(waited)});
  }
}

}  // namespace holdfast::agent
