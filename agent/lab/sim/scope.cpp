#include "agent/lab/sim/scope.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"
#include "sync/wire/codec.h"
#include "sync/wire/object_header.h"

namespace holdfast::agent::lab::sim {

namespace reflect = sync::watch::reflect;
using sync::watch::WatchCache;

namespace {

constexpr Duration list_limit = std::chrono::seconds(20);

sync::watch::Failure failure_of(const Answer& answer) {
  sync::watch::Failure failure;
  failure.http_status = answer.status;
  failure.code = answer.status == gone ? Errc::gone : answer.code;
  failure.what = answer.status == 0 ? answer.why : "answered " + std::to_string(answer.status);
  if (answer.status == too_many) failure.retry_after = std::chrono::seconds(1);
  return failure;
}

sync::wire::ScopeKind scope_kind(ScopeOf of) {
  return {.kind = of == ScopeOf::pods ? "Pod" : "Node", .api_version = "v1"};
}

sync::wire::WatchEvent::Type type_of(ChangeType type) {
  switch (type) {
    case ChangeType::added:
      return sync::wire::WatchEvent::Type::added;
    case ChangeType::modified:
      return sync::wire::WatchEvent::Type::modified;
    case ChangeType::deleted:
      return sync::wire::WatchEvent::Type::deleted;
  }
  UNREACHABLE();
}

// Reads the key, uid and version of an object as a cache keeps it.
std::pair<sync::watch::ObjectKey, sync::watch::CachedObject> read(std::string item) {
  const auto header = sync::wire::read_header(item);
  CHECK(header);
  const auto version = sync::objects::parse_version(header->resource_version);
  CHECK(version);
  return {{header->namespace_name, header->name},
          {header->uid, *version, std::make_shared<const std::string>(std::move(item))}};
}

}  // namespace

Scope::Scope(Engine& engine, NodeClient& client, std::string node, ScopeOf of, Task changed)
    : engine_(engine),
      client_(client),
      node_(std::move(node)),
      of_(of),
      changed_(std::move(changed)) {}

bool Scope::is_watching() const {
  return reflector_ && reflector_->state() == sync::watch::Reflector::State::watching;
}

void Scope::start(std::string resume_from) {
  if (reflector_) return;
  const Draw draw = of_ == ScopeOf::pods ? Draw::pods : Draw::node;
  client_.link().restart_random(draw);
  reflector_ = std::make_unique<sync::watch::Reflector>(
      sync::watch::ReflectorConfig{.first_list_version = "",
                                   .list_backoff = sync::pacing::BackoffConfig{},
                                   .refused_pause = std::chrono::seconds(10)},
      client_.link().random(draw));
  feed(reflect::Started{std::move(resume_from)});
}

void Scope::stop() {
  life_.end();
  if (watch_) watch_->closed = true;
  watch_ = nullptr;
  reflector_.reset();
  timer_.clear();
}

void Scope::feed(reflect::Input input) {
  const auto actions = reflector_->step(engine_.now(), std::move(input));
  const auto token = life_.token();
  for (const reflect::Action& action : actions) {
    if (token.expired()) return;
    std::visit([this](const auto& one) { perform(one); }, action);
  }
  if (token.expired()) return;
  timer_.set(engine_, life_, reflector_->deadline(), [this] { feed(reflect::TimePassed{}); });
}

void Scope::perform(const reflect::SendList&) {
  // Items and version belong together, so both are read when the request arrives.
  const auto items = std::make_shared<std::vector<std::string>>();
  const auto version = std::make_shared<std::string>();
  Server& server = client_.server();
  client_.call(
      life_, RequestKind::list, 200, list_limit,
      [items, version, &server, node = node_, of = of_] {
        *items = list_items(server, node, of);
        *version = std::to_string(server.version());
        Answer answer{.status = ok};
        for (const std::string& item : *items) answer.body += item;
        return answer;
      },
      [this, items, version](const Answer& answer) {
        if (answer.status == 0 && answer.code == Errc::timeout && on_timeout_) on_timeout_();
        if (!answer.is_ok()) return feed(reflect::ListFailed{failure_of(answer)});
        feed(reflect::PageReceived{.items = *items, .resource_version = *version});
      });
}

void Scope::perform(const reflect::OpenWatch& action) {
  const auto version = sync::objects::parse_version(action.resource_version);
  CHECK(version);
  watch_ = client_.watch(
      life_, node_, of_, *version, std::chrono::seconds(action.timeout_seconds),
      {.opened = [this] { note_opened(); },
       .changed = [this](const Change& change) { take_event(change); },
       .bookmark =
           [this](std::uint64_t seen) {
             feed(reflect::EventReceived{{.type = sync::wire::WatchEvent::Type::bookmark,
                                          .object = {},
                                          .resource_version = std::to_string(seen)}});
           },
       .ended = [this] { feed(reflect::WatchEnded{}); },
       .failed = [this](const Answer& why) { feed(reflect::WatchFailed{failure_of(why)}); }});
  // Opening is a request like others: it has a deadline.
  engine_.after(list_limit, life_, [this, watch = watch_] {
    const bool opening = reflector_->state() == sync::watch::Reflector::State::opening;
    if (watch != watch_ || !opening || watch->closed) return;
    watch->closed = true;
    if (on_timeout_) on_timeout_();
    feed(reflect::WatchFailed{failure_of({.why = "deadline passed", .code = Errc::timeout})});
  });
}

void Scope::note_opened() {
  refreshed_at_ = engine_.now();
  feed(reflect::WatchOpened{});
}

void Scope::perform(const reflect::CloseWatch&) {
  if (watch_) watch_->closed = true;
  watch_ = nullptr;
}

void Scope::take_event(const Change& change) {
  const std::string object =
      change.node ? sync::wire::encode_bytes(*change.node) : sync::wire::encode_bytes(*change.pod);
  feed(reflect::EventReceived{{.type = type_of(change.type),
                               .object = object,
                               .resource_version = std::to_string(change.version)}});
}

void Scope::check_order(std::uint64_t version) {
  if (version >= cache_.version() || cache_.has_local_events()) return;
  engine_.violate(
      "versions of a scope never decrease",
      node_ + " had " + std::to_string(cache_.version()) + " and got " + std::to_string(version));
}

void Scope::perform(const reflect::Replace& action) {
  WatchCache::Objects objects;
  for (const std::string& item : action.items) objects.insert(read(item));
  const auto version = sync::objects::parse_version(action.resource_version);
  CHECK(version);
  check_order(*version);
  (void)cache_.replace(std::move(objects), *version, scope_kind(of_));
  cache_.check_invariants();
  refreshed_at_ = engine_.now();
  changed_();
}

void Scope::perform(const reflect::Apply& action) {
  auto item = sync::watch::cached_form(action.event.object);
  CHECK(item);
  auto [key, object] = read(*std::move(item));
  const bool removed = action.event.type == sync::wire::WatchEvent::Type::deleted;
  check_order(object.version);
  const bool applied = cache_.apply(
      {.type = removed ? sync::watch::EventType::deleted : sync::watch::EventType::modified,
       .key = std::move(key),
       .object = std::move(object)});
  if (applied) changed_();
}

void Scope::perform(const reflect::Bookmark& action) {
  const auto version = sync::objects::parse_version(action.resource_version);
  CHECK(version);
  cache_.bookmark(*version);
}

// ---------------------------------------------------------------------------------------- feeds

static std::string bytes_of(const sync::watch::CachedObject& object) {
  const auto bytes = object.bytes.load();
  CHECK(bytes);
  return **bytes;
}

PodPtr decode_pod(const sync::watch::CachedObject& object) {
  auto pod = sync::wire::decode_bytes<sync::Pod>(bytes_of(object));
  CHECK(pod);
  return std::make_shared<const sync::Pod>(*std::move(pod));
}

NodePtr node_in(const WatchCache& cache) {
  if (cache.objects().empty()) return nullptr;
  auto node = sync::wire::decode_bytes<sync::Node>(bytes_of(cache.objects().begin()->second));
  CHECK(node);
  return std::make_shared<const sync::Node>(*std::move(node));
}

std::vector<PodPtr> pods_in(const WatchCache& cache) {
  std::vector<PodPtr> pods;
  for (const auto& [key, object] : cache.objects()) pods.push_back(decode_pod(object));
  return pods;
}

void PodFeed::update(const WatchCache& cache) {
  if (!cache.complete()) return;
  if (!next_ && seen_) {
    const auto position = cache.position_of(*seen_);
    if (position) next_ = *position;
  }
  while (next_) {
    const auto event = cache.at(*next_);
    if (!event) {  // A gap: everything is delivered again.
      next_.reset();
      break;
    }
    if (*event == nullptr) return;
    ++*next_;
    // It has seen this one, from another cache.
    const sync::objects::Version version = (*event)->object.version;
    if (version <= *seen_) continue;
    seen_ = version;
    const bool deleted = (*event)->type == sync::watch::EventType::deleted;
    sink_->take_change(deleted ? ChangeType::deleted : ChangeType::modified,
                       decode_pod((*event)->object));
  }
  next_ = cache.end();
  seen_ = cache.version();
  sink_->take_list(pods_in(cache));
}

}  // namespace holdfast::agent::lab::sim
