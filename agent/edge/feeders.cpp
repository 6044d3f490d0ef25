#include "agent/edge/feeders.h"

#include <algorithm>

#include "agent/edge/caller.h"
#include "platform/check.h"
#include "platform/log.h"
#include "sync/protobuf/header.h"

namespace holdfast::agent {
namespace {

constexpr auto request_limit = std::chrono::seconds(20);

// Takes what a list-watch brings into a scope.
class ScopeSink final : public ListWatchSink {
 public:
  ScopeSink(Scopes& scopes, ScopePtr scope) : scopes_(scopes), scope_(std::move(scope)) {}

  void replace(std::vector<std::string> items, const std::string& version,
               const sync::ScopeKind& kind) override {
    const auto number = sync::parse_version(version);
    if (!number) return skip(version, "the list's resourceVersion is no number");
    sync::WatchCache::Objects objects;
    for (std::string& item : items) {
      auto object = read(std::move(item));
      if (object) objects.insert_or_assign(std::move(object->first), std::move(object->second));
    }
    scopes_.replace(*scope_, std::move(objects), *number, kind);
  }

  void apply(const sync::WatchEvent& event) override {
    auto item = sync::cached_form(event.object);
    if (item) item = sync::in_encoding(scope_->cache().kind(), *std::move(item));
    if (!item) return skip(event.resource_version, item.error().what);
    auto object = read(*std::move(item));
    if (!object) return;
    const bool removed = event.type == sync::WatchEvent::Type::deleted;
    scopes_.apply(*scope_, {.type = removed ? sync::EventType::deleted : sync::EventType::modified,
                            .key = std::move(object->first),
                            .object = std::move(object->second)});
  }

  void bookmark(const std::string& version) override {
    if (const auto number = sync::parse_version(version)) scopes_.bookmark(*scope_, *number);
  }

 private:
  using Read = std::pair<sync::ObjectKey, sync::CachedObject>;

  std::optional<Read> read(std::string item) {
    auto header = sync::read_any_header(item);
    const auto version = header ? sync::parse_version(header->resource_version) : std::nullopt;
    if (!version || header->name.empty()) {
      skip(header ? header->name : "", header ? "no usable metadata" : header.error().what);
      return std::nullopt;
    }
    return Read{{header->namespace_name, header->name},
                {header->uid, *version, std::make_shared<const std::string>(std::move(item))}};
  }

  void skip(const std::string& name, const std::string& why) {
    log_error("object skipped",
              {{"resource", scope_->key().resource}, {"name", name}, {"error", why}});
  }

  Scopes& scopes_;
  ScopePtr scope_;
};

// The cloud has decided; asking again soon would not help.
bool is_refusal(int status) {
  return status >= 400 && status < 500 && status != 410 && status != 429;
}

// Sends with the credentials of a scope's owner, and notes it when the scope is refused to him.
class OwnerSource final : public ListWatchSource {
 public:
  OwnerSource(ListWatchSource& inner, std::string authorization, ScopePtr scope, const Clock& clock)
      : inner_(inner),
        authorization_(std::move(authorization)),
        scope_(std::move(scope)),
        clock_(clock) {}

  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override {
    request.authorization = authorization_;
    auto response = co_await inner_.send(std::move(request), streamed);
    if (response && is_refusal(response->status)) scope_->set_refused_at(clock_.mono());
    co_return response;
  }

 private:
  ListWatchSource& inner_;
  std::string authorization_;
  ScopePtr scope_;
  const Clock& clock_;
};

asio::awaitable<void> list_watch(ListWatchTarget target, ListWatchSource& uplink,
                                 std::string authorization, Scopes& scopes, ScopePtr scope,
                                 const Clock& clock, Random& random) {
  OwnerSource source(uplink, std::move(authorization), scope, clock);
  ScopeSink sink(scopes, std::move(scope));
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
      tasks_(std::move(executor)) {}

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
        .reflector = {.first_list_version = ""}};
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
  return uplink_.send(std::move(request), streamed, request_limit);
}

asio::awaitable<bool> Feeders::wait_for_turn(int turn, MonoTime since, MonoTime deadline) {
  std::vector<ScopePtr> waited_for;
  for (const auto& [key, scope] : scopes_.all()) {
    if (turn_of(key) == turn && has_credentials(*scope)) waited_for.push_back(scope);
  }
  for (const ScopePtr& scope : waited_for) {
    const bool heard = co_await wait_until_heard(scope, since, deadline);
    if (!heard) co_return false;
  }
  co_return true;
}

asio::awaitable<bool> Feeders::wait_until_heard(ScopePtr scope, MonoTime since, MonoTime deadline) {
  while (scope->listed_at() < since && scope->refused_at() < since) {
    const bool changed = co_await scope->changed().wait_until(deadline);
    if (!changed) co_return false;
  }
  co_return true;
}

std::vector<ScopePtr> Feeders::outdated() const {
  std::vector<ScopePtr> found;
  for (const auto& [key, scope] : scopes_.all()) {
    const bool listable = has_credentials(*scope) && !scope->refused();
    if (listable && scope->cache().has_local_events()) found.push_back(scope);
  }
  return found;
}

asio::awaitable<bool> Feeders::list_again(std::vector<ScopePtr> scopes, MonoTime deadline) {
  const MonoTime since = clock_.mono();
  for (const ScopePtr& scope : scopes) restart_.insert(scope.get());
  uplink_.changed().notify_all();
  for (const ScopePtr& scope : scopes) {
    const bool heard = co_await wait_until_heard(scope, since, deadline);
    if (!heard) co_return false;
  }
  co_return true;
}

}  // namespace holdfast::agent
