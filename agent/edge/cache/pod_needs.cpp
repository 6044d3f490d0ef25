#include "agent/edge/cache/pod_needs.h"

#include "agent/edge/route/caller.h"
#include "platform/log.h"
#include "platform/loop/timer.h"
#include "sync/wire/json.h"
#include "sync/wire/read.h"

namespace holdfast::agent {
namespace {

constexpr PodNeedsLimits pod_needs_limits;

bool is_of_node(const LocalScope& scope, std::string_view resource) {
  return scope.key().owner == node_owner && scope.key().resource == resource;
}

}  // namespace

PodNeeds::PodNeeds(std::string node_name, Scopes& scopes, ScopeReflectors& reflectors,
                   const Clock& clock)
    : node_name_(std::move(node_name)), scopes_(scopes), reflectors_(reflectors), clock_(clock) {}

asio::awaitable<void> PodNeeds::follow() {
  for (;;) {
    update();
    co_await scopes_.table().changed().wait();
    co_await loop::sleep_until(clock_.mono() + pod_needs_limits.gather);
  }
}

bool PodNeeds::holds_all_pods(const LocalScope& scope) const {
  const store::ScopeKey& key = scope.key();
  if (key.field_selector == "spec.nodeName=" + node_name_) return true;
  return key.field_selector.empty() && key.label_selector.empty() && key.namespace_name.empty();
}

void PodNeeds::update() {
  const sync::autonomy::NeededObjects news = read_pods();
  all_.clear();
  for (const auto& [key, pod] : pods_) {
    all_.insert(pod.references.begin(), pod.references.end());
  }
  all_.insert({"csinodes", "", node_name_});
  add_volumes();
  scopes_.table().set_needed(all_);
  for (const sync::autonomy::NeededObject& object : news) get(object);
  // A claim may have been bound only now, so that its volume is needed without a change of a pod.
  for (const sync::autonomy::NeededObject& object : all_) {
    const bool volume = object.resource == "persistentvolumes";
    if (volume && !news.contains(object) && scopes_of(object).empty()) get(object);
  }
}

Result<PodNeeds::Read> PodNeeds::read_pod(const LocalScope& scope,
                                          const sync::watch::CachedObject& pod) {
  TRY(const std::string json, sync::watch::cached_json(scope.cache().kind(), pod.bytes));
  TRY(const sync::json::value parsed, sync::wire::parse_json(json));
  const sync::json::object& object = sync::wire::as_object(parsed);
  Read read{.bytes = pod.bytes,
            .uid = std::string(sync::wire::uid_of(object)),
            .generation = sync::wire::dig_int(object, {"metadata", "generation"})};
  if (auto added = sync::autonomy::add_references(json, read.references); !added)
    return fail(added.error());
  return read;
}

std::optional<std::set<std::string>> PodNeeds::pod_uids() const {
  if (!known_) return std::nullopt;
  std::set<std::string> uids;
  for (const auto& [name, pod] : pods_) uids.insert(pod.uid);
  return uids;
}

sync::autonomy::NeededObjects PodNeeds::read_pods() {
  sync::autonomy::NeededObjects news;
  Index now;
  known_ = false;
  bool readable = true;
  for (const auto& [key, scope] : scopes_.table().all()) {
    if (!is_of_node(*scope, "pods") || !key.group.empty()) continue;
    if (scope->refused() || !scope->cache().complete()) continue;
    // The state of the last run may be as old as the outage.
    const bool current = scope->refreshed_at() != MonoTime::min();
    known_ = known_ || (current && holds_all_pods(*scope));
    encoding_ = key.encoding;
    for (const auto& [name, object] : scope->cache().objects()) {
      const auto before = pods_.find(name);
      if (before != pods_.end() && before->second.bytes == object.bytes) {
        now.insert(*before);
        continue;
      }
      const auto read = read_pod(*scope, object);
      if (!read) {
        log_warn("references of a pod cannot be read",
                 {{"pod", name.namespace_name + "/" + name.name}, {"why", read.error()}});
        readable = false;
        continue;
      }
      const bool changed = before == pods_.end() || before->second.references != read->references ||
                           before->second.generation != read->generation;
      if (changed) news.insert(read->references.begin(), read->references.end());
      now.insert_or_assign(name, *read);
    }
  }
  known_ = known_ && readable;
  pods_ = std::move(now);
  return news;
}

// Adds the volumes that needed claims name, then the attachments of needed volumes.
void PodNeeds::add_volumes() {
  for (const bool attachments : {false, true}) {
    for (const auto& [key, scope] : scopes_.table().all()) {
      if (!is_of_node(*scope, attachments ? "volumeattachments" : "persistentvolumeclaims")) {
        continue;
      }
      for (const auto& [name, object] : scope->cache().objects()) {
        const auto json = sync::watch::cached_json(scope->cache().kind(), object.bytes);
        if (!json) continue;
        if (attachments) {
          const auto volume = sync::autonomy::volume_of_attachment(*json);
          if (volume && all_.contains(*volume)) all_.insert({key.resource, "", name.name});
        } else if (all_.contains({key.resource, name.namespace_name, name.name})) {
          if (const auto volume = sync::autonomy::volume_of_claim(*json)) all_.insert(*volume);
        }
      }
    }
  }
}

std::vector<ScopePtr> PodNeeds::scopes_of(const sync::autonomy::NeededObject& object) const {
  std::vector<ScopePtr> found;
  for (const auto& [key, scope] : scopes_.table().all()) {
    const bool same =
        scope->fetch_mode() == FetchMode::get && is_of_node(*scope, object.resource) &&
        key.namespace_name == object.namespace_name && scope->object_name() == object.name;
    if (same) found.push_back(scope);
  }
  return found;
}

void PodNeeds::get(const sync::autonomy::NeededObject& object) {
  const std::vector<ScopePtr> known = scopes_of(object);
  for (const ScopePtr& scope : known) {
    const bool fresh = scope->refreshed_at() != MonoTime::min() &&
                       clock_.mono() - scope->refreshed_at() < pod_needs_limits.fresh;
    if (!fresh) reflectors_.list_again({scope});
  }
  const bool storage =
      object.resource == "persistentvolumes" || object.resource == "persistentvolumeclaims";
  if (!known.empty() || !storage) return;
  const store::ScopeKey key{.owner = std::string(node_owner),
                            .version = "v1",
                            .resource = object.resource,
                            .namespace_name = object.namespace_name,
                            .field_selector = "metadata.name=" + object.name,
                            .encoding = encoding_};
  if (auto opened = scopes_.open(key); !opened) {
    log_warn("object not cached", {{"resource", key.resource}, {"error", opened.error()}});
  }
}

}  // namespace holdfast::agent
