// The part of Scopes that uses scopes opened for other requests: with a wider selection or in the
// other encoding.

#include "agent/edge/cache/scopes.h"
#include "platform/log.h"
#include "sync/watch/selection.h"

namespace holdfast::agent {
namespace {

sync::watch::Selection selection_of(const store::ScopeKey& key) {
  return {.group = key.group,
          .resource = key.resource,
          .namespace_name = key.namespace_name,
          .label_selector = key.label_selector,
          .field_selector = key.field_selector};
}

// Whether both keys are of the same resource and owner.
bool same_resource(const store::ScopeKey& a, const store::ScopeKey& b) {
  return a.owner == b.owner && a.group == b.group && a.version == b.version &&
         a.resource == b.resource;
}

// Whether the complete `scope` tells if the object exists.
bool knows_of(const LocalScope& scope, const sync::watch::ObjectKey& object, bool selections_too) {
  const store::ScopeKey& key = scope.key();
  const bool here = key.namespace_name.empty() || key.namespace_name == object.namespace_name;
  if (!here) return false;
  const bool unselected = key.label_selector.empty() && key.field_selector.empty();
  if (unselected || scope.object_name() == object.name) return true;
  // A scope with selectors that contains the object proves that it exists; one without it proves
  // nothing.
  return selections_too && scope.cache().find(object) != nullptr;
}

}  // namespace

ScopePtr Scopes::covering(const store::ScopeKey& resource, const sync::watch::ObjectKey& object,
                          bool selections_too) const {
  for (const auto& [key, scope] : scopes_) {
    const bool readable = resource.encoding.empty() || key.encoding == resource.encoding;
    if (!same_resource(key, resource) || !readable || !scope->cache().complete()) continue;
    if (knows_of(*scope, object, selections_too)) return scope;
  }
  return nullptr;
}

std::vector<ScopePtr> Scopes::wider_than(const store::ScopeKey& wanted) const {
  std::vector<ScopePtr> found;
  const sync::watch::Selection selection = selection_of(wanted);
  for (const auto& [key, scope] : scopes_) {
    const bool usable = key != wanted && same_resource(key, wanted) && scope->cache().complete() &&
                        !scope->refused() && !scope->derived();
    if (!usable || !sync::watch::covers(selection_of(key), selection)) continue;
    // Scopes in the wanted encoding come first: nothing is lost by conversion.
    const auto place = key.encoding == wanted.encoding ? found.begin() : found.end();
    found.insert(place, scope);
  }
  return found;
}

bool Scopes::can_derive(const store::ScopeKey& key) const { return !wider_than(key).empty(); }

bool Scopes::derive(LocalScope& scope) {
  if (scope.is_detached()) return false;
  for (const ScopePtr& wider : wider_than(scope.key())) {
    const Status filled = fill(scope, *wider);
    if (filled) return true;
    log_warn("scope not filled from other scopes",
             {{"path", scope.path()}, {"encoding", scope.key().encoding}, {"why", filled.error()}});
  }
  return false;
}

Status Scopes::fill(LocalScope& scope, const LocalScope& wider) {
  TRY(auto objects, sync::watch::select(wider.cache(), selection_of(scope.key())));
  sync::wire::ScopeKind kind = wider.cache().kind();
  if (wider.key().encoding != scope.key().encoding) {
    kind.encoding = sync::wire::parse_encoding(scope.key().encoding).value_or(kind.encoding);
    TRY(objects, sync::watch::transcoded(std::move(objects), kind));
  }
  const std::size_t bytes = sync::watch::WatchCache::memory_bytes_of(objects);
  if (auto room = admit(scope, objects.size(), bytes); !room) return room;
  scope.cache().restore(std::move(objects), wider.cache().version(), kind);
  scope.set_derived(true);
  count_objects(scope);
  announce(scope);
  return {};
}

}  // namespace holdfast::agent
