#include "agent/edge/feeders.h"

#include <algorithm>

#include "agent/edge/caller.h"
#include "platform/check.h"
#include "platform/log.h"
#include "sync/protobuf/header.h"

namespace holdfast::agent {
namespace {

constexpr auto request_limit = std::chrono::seconds(20);
constexpr ScopeRetry scope_retry;

// A resourceVersion as only a server gives it: ours are larger, and must stay so.
std::optional<sync::Version> server_version(std::string_view text) {
  const auto version = sync::parse_version(text);
  return version && !sync::is_local(*version) ? version : std::nullopt;
}

constexpr Feeders::HeldLimits held_limits;

}  // namespace

// What one list-watch holds.
class Feeders::Held {
 public:
  Held(Feeders& feeders, std::size_t most) : total_(feeders.held_bytes_), most_(most) {}
  ~Held() { total_ -= bytes_; }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  [[nodiscard]] Status set(std::size_t bytes) {
    if (bytes > bytes_ && total_ - bytes_ + bytes > most_) {
      return fail(Errc::exhausted, "unfinished lists and watch events have more than " +
                                       std::to_string(most_) + " bytes");
    }
    total_ = total_ - bytes_ + bytes;
    bytes_ = bytes;
    return {};
  }

 private:
  std::size_t& total_;
  std::size_t most_;
  std::size_t bytes_ = 0;
};

namespace {

// Takes what a list-watch brings into a scope.
class ScopeSink final : public ListWatchSink {
 public:
  using Part = ScopeHealth::Part;

  ScopeSink(Feeders& feeders, Scopes& scopes, ScopePtr scope)
      : feeders_(feeders),
        scopes_(scopes),
        scope_(std::move(scope)),
        held_(feeders, std::max(held_limits.bytes, scopes.limits().scope_bytes)) {}

  void replace(std::vector<std::string> items, const std::string& version,
               const sync::ScopeKind& kind) override {
    (void)try_replace(std::move(items), version, kind);
  }
  void apply(const sync::WatchEvent& event) override { (void)try_apply(event); }

  Status try_replace(std::vector<std::string> items, const std::string& version,
                     const sync::ScopeKind& kind) override {
    const auto number = server_version(version);
    if (!number) return fail(Errc::corrupt, "the list's resourceVersion is no number");
    sync::WatchCache::Objects objects;
    for (std::string& item : items) {
      // A list without an object that could not be read would say that it was deleted.
      TRY(Read object, read(std::move(item)));
      objects.insert_or_assign(std::move(object.first), std::move(object.second));
    }
    if (auto taken = scopes_.replace(*scope_, std::move(objects), *number, kind); !taken) {
      return taken;
    }
    feeders_.note_success(*scope_, Part::list);
    return {};
  }

  Status try_apply(const sync::WatchEvent& event) override {
    TRY(std::string item, sync::cached_form(event.object));
    TRY(item, sync::in_encoding(scope_->cache().kind(), std::move(item)));
    TRY(Read object, read(std::move(item)));
    const bool removed = event.type == sync::WatchEvent::Type::deleted;
    auto taken = scopes_.apply(
        *scope_, {.type = removed ? sync::EventType::deleted : sync::EventType::modified,
                  .key = std::move(object.first),
                  .object = std::move(object.second)});
    if (!taken) return taken;
    feeders_.note_success(*scope_, Part::watch);
    return {};
  }

  void bookmark(const std::string& version) override {
    if (const auto number = server_version(version)) scopes_.bookmark(*scope_, *number);
    feeders_.note_success(*scope_, Part::watch);
  }

  Status try_hold(std::size_t bytes) override { return held_.set(bytes); }

  void list_failed(const sync::Failure& failure) override {
    feeders_.note_failure(*scope_, Part::list, failure);
  }

  void watch_failed(const sync::Failure& failure) override {
    // A watch that only broke off is opened again soon, and nothing is missed.
    const ScopeFault fault = fault_of(failure);
    const bool unreadable = fault == ScopeFault::too_large || failure.code == Errc::corrupt;
    if (fault == ScopeFault::refused || unreadable) {
      feeders_.note_failure(*scope_, Part::watch, failure);
    }
  }

  void watch_opened() override {
    // One that was unreadable still has to show that it is not any more.
    if (scope_->refused()) feeders_.note_success(*scope_, Part::watch);
  }

 private:
  using Read = std::pair<sync::ObjectKey, sync::CachedObject>;

  // An object that has the same bytes already is not kept twice.
  Result<Read> read(std::string item) {
    TRY(sync::ObjectHeader header, sync::read_any_header(item));
    const auto version = server_version(header.resource_version);
    if (!version || header.name.empty()) {
      return fail(Errc::corrupt, "object \"" + header.name + "\" has no usable metadata");
    }
    sync::ObjectKey key{std::move(header.namespace_name), std::move(header.name)};
    const sync::CachedObject* known = scope_->cache().find(key);
    sync::Bytes bytes;
    if (known != nullptr && *known->bytes == item) {
      bytes = known->bytes;
    } else {
      item.shrink_to_fit();
      bytes = std::make_shared<const std::string>(std::move(item));
    }
    return Read{std::move(key), {std::move(header.uid), *version, std::move(bytes)}};
  }

  Feeders& feeders_;
  Scopes& scopes_;
  ScopePtr scope_;
  Feeders::Held held_;
};

// Sends with the credentials of a scope's owner.
class OwnerSource final : public ListWatchSource {
 public:
  OwnerSource(ListWatchSource& inner, std::string authorization)
      : inner_(inner), authorization_(std::move(authorization)) {}

  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override {
    request.authorization = authorization_;
    co_return co_await inner_.send(std::move(request), streamed);
  }

 private:
  ListWatchSource& inner_;
  std::string authorization_;
};

asio::awaitable<void> list_watch(ListWatchTarget target, Feeders& feeders,
                                 std::string authorization, Scopes& scopes, ScopePtr scope,
                                 const Clock& clock, Random& random) {
  OwnerSource source(feeders, std::move(authorization));
  ScopeSink sink(feeders, scopes, std::move(scope));
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

Feeders::Feeders(asio::any_io_executor executor, Scopes& scopes, Uplink& uplink, const Clock& clock,
                 Random& random)
    : executor_(executor),
      scopes_(scopes),
      uplink_(uplink),
      clock_(clock),
      random_(random),
      tasks_(std::move(executor)) {
  scopes_.on_drop([this](const LocalScope& scope) { stop_feeding(scope); });
}

void Feeders::add(ScopePtr scope) {
  std::string name = "feed " + scope->key().resource;
  tasks_.spawn(std::move(name), feed(std::move(scope)));
}

void Feeders::stop_feeding(const LocalScope& scope) {
  CHECK(scope.retired());
  const std::string& owner = scope.key().owner;
  const auto& all = scopes_.all();
  const auto of_owner = [&owner](const auto& each) { return each.first.owner == owner; };
  if (std::none_of(all.begin(), all.end(), of_owner)) authorizations_.erase(owner);
  uplink_.changed().notify_all();
}

void Feeders::remember(const std::string& owner, std::string authorization) {
  const auto& all = scopes_.all();
  const auto of_owner = [&owner](const auto& each) { return each.first.owner == owner; };
  if (std::none_of(all.begin(), all.end(), of_owner)) return;
  // What the API server has just refused is not tried again with each request of his.
  if (uplink_.owners().rejected(owner)) return;
  std::string& known = authorizations_[owner];
  if (known == authorization) return;
  known = std::move(authorization);
  uplink_.changed().notify_all();
}

void Feeders::admit(int turn) {
  admitted_ = turn;
  uplink_.changed().notify_all();
}

bool Feeders::has_credentials(const LocalScope& scope) const {
  const std::string& owner = scope.key().owner;
  return owner == node_owner || authorizations_.contains(owner);
}

bool Feeders::may_feed(const LocalScope& scope) const {
  if (scope.retired()) return false;
  if (!has_credentials(scope)) return false;
  switch (uplink_.link().state()) {
    case sync::LinkState::connected:
    case sync::LinkState::suspect:
      return true;
    case sync::LinkState::offline:
      return false;
    case sync::LinkState::rejoining:
      return turn_of(scope.key()) <= admitted_;
  }
  return false;
}

asio::awaitable<void> Feeders::feed(ScopePtr scope) {
  for (;;) {
    while (!may_feed(*scope) && !scope->retired()) co_await uplink_.changed().wait();
    if (scope->retired()) break;
    restart_.erase(scope.get());
    const auto credentials = authorizations_.find(scope->key().owner);
    std::string authorization;
    if (credentials != authorizations_.end()) authorization = credentials->second;
    ListWatchTarget target{
        .path = scope->path(),
        .label_selector = scope->key().label_selector,
        .field_selector = scope->key().field_selector,
        .ask_protobuf = scope->key().encoding == sync::to_string(sync::Encoding::protobuf),
        .frames = {.document_bytes = held_limits.event},
        .reflector = {.first_list_version = "",
                      .list_bytes = scopes_.limits().scope_bytes,
                      .list_items = scopes_.limits().scope_objects,
                      .list_backoff = scope_retry.backoff,
                      .refused_pause = scope_retry.refused_pause}};
    const auto online = std::make_shared<loop::Tasks>(executor_);
    online_[scope.get()] = online;
    online->spawn("list-watch", list_watch(std::move(target), *this, std::move(authorization),
                                           scopes_, scope, clock_, random_));
    while (may_feed(*scope) && !restart_.contains(scope.get())) co_await uplink_.changed().wait();
    online->cancel();
    co_await online->join();
  }
  online_.erase(scope.get());
  restart_.erase(scope.get());
}

void Feeders::cancel() {
  tasks_.cancel();
  for (const auto& [scope, online] : online_) online->cancel();
}

asio::awaitable<void> Feeders::join() {
  co_await tasks_.join();
  cancel();  // A feed may have begun another one just before it ended.
  for (const auto& [scope, online] : online_) co_await online->join();
}

asio::awaitable<Result<http::Response>> Feeders::send(ApiRequest request, bool streamed) {
  auto response =
      co_await uplink_.send(std::move(request), streamed, request_limit, Silence::of_request);
  // Whether that was the scope's fault alone, the next probe tells.
  if (!response && response.error().code == Errc::timeout) uplink_.doubt();
  if (response && response->status == 401) forget_rejected();
  co_return response;
}

void Feeders::forget_rejected() {
  const auto rejected = [this](const auto& each) { return uplink_.owners().rejected(each.first); };
  if (std::erase_if(authorizations_, rejected) > 0) uplink_.changed().notify_all();
}

void Feeders::note_failure(LocalScope& scope, ScopeHealth::Part part,
                           const sync::Failure& failure) {
  const bool reached = failure.http_status != 0 || failure.code == Errc::exhausted;
  // While the link is down, that is no news about the scope.
  if (!reached && uplink_.link().state() == sync::LinkState::offline) return;
  const bool news = scope.health().fail(clock_.mono(), part, fault_of(failure), failure.what);
  scope.changed().notify_all();
  if (!news) return;
  log_warn("scope cannot be refreshed", {{"path", scope.path()},
                                         {"fields", scope.key().field_selector},
                                         {"fault", to_string(scope.health().fault())},
                                         {"reason", failure.what}});
  on_health_(scope);
}

void Feeders::note_success(LocalScope& scope, ScopeHealth::Part part) {
  if (!scope.health().succeed(part)) return;
  log_info("scope is refreshed again",
           {{"path", scope.path()}, {"fields", scope.key().field_selector}});
  scope.changed().notify_all();
  on_health_(scope);
}

std::vector<ScopePtr> Feeders::of_turn(int turn) const {
  std::vector<ScopePtr> found;
  for (const auto& [key, scope] : scopes_.all()) {
    if (turn_of(key) == turn && has_credentials(*scope)) found.push_back(scope);
  }
  return found;
}

std::vector<ScopePtr> Feeders::outdated() const {
  std::vector<ScopePtr> found;
  for (const auto& [key, scope] : scopes_.all()) {
    const bool listable = has_credentials(*scope) && scope->health().is_healthy();
    if (listable && scope->cache().has_local_events()) found.push_back(scope);
  }
  return found;
}

void Feeders::list_again(const std::vector<ScopePtr>& scopes) {
  for (const ScopePtr& scope : scopes) restart_.insert(scope.get());
  uplink_.changed().notify_all();
}

static bool was_heard(const LocalScope& scope, MonoTime since) {
  return scope.retired() || scope.listed_at() >= since || scope.health().failed_at() >= since;
}

asio::awaitable<bool> Feeders::wait_until_heard(std::vector<ScopePtr> scopes, MonoTime since,
                                                MonoTime deadline) {
  for (const ScopePtr& scope : scopes) {
    while (!was_heard(*scope, since)) {
      const bool changed = co_await scope->changed().wait_until(deadline);
      if (!changed) co_return false;
    }
  }
  co_return true;
}

void Feeders::give_up_waiting(const std::vector<ScopePtr>& scopes, MonoTime since) {
  for (const ScopePtr& scope : scopes) {
    if (was_heard(*scope, since)) continue;
    const auto waited = clock_.mono() - since;
    note_failure(
        *scope, ScopeHealth::Part::list,
        {.code = Errc::timeout, .what = "no complete list within " + format_duration(waited)});
  }
}

}  // namespace holdfast::agent
