// The part of ScopeReflectors for scopes that show writes which were accepted locally.

#include "agent/edge/cache/scope_reflectors.h"
#include "platform/log.h"
#include "sync/autonomy/local_form.h"

namespace holdfast::agent {

using States = sync::watch::WatchCache::States;

std::vector<ScopePtr> ScopeReflectors::with_local_versions() const {
  std::vector<ScopePtr> found;
  for (const auto& [key, scope] : table_.all()) {
    const bool listable = has_credentials(*scope) && scope->health().is_healthy();
    if (listable && scope->cache().has_local_events()) found.push_back(scope);
  }
  return found;
}

// What the answers show of the objects that were written in the scope, in the scope's form. Those
// of which no answer tells are missing. Errors: unavailable (a write was not sent yet; only if
// `is_early`), invalid (an answer has no such form).
static Result<States> states_of(const LocalScope& scope,
                                const sync::autonomy::LastAnswerOf& last_answer, bool is_early) {
  States states;
  for (const auto& [key, before] : scope.cache().written()) {
    const sync::autonomy::LastAnswer answer = last_answer({.group = scope.key().group,
                                                           .resource = scope.key().resource,
                                                           .namespace_name = key.namespace_name,
                                                           .name = key.name});
    if (answer.is_waiting && is_early) return fail(Errc::unavailable, key.name + " is written");
    if (!answer.state || !before) continue;
    const sync::autonomy::AnsweredState& now = *answer.state;
    states[key] = std::nullopt;
    if (!now.exists) continue;
    TRY(const sync::watch::Bytes cached, before->bytes.load());
    TRY(std::string bytes, sync::autonomy::local_form(scope.cache().kind(), *cached, now.object));
    states[key] = {.uid = now.uid,
                   .version = now.version,
                   .bytes = std::make_shared<const std::string>(std::move(bytes))};
  }
  return states;
}

void ScopeReflectors::settle(const ScopePtr& scope,
                             const sync::autonomy::LastAnswerOf& last_answer) {
  Feed* const feed = feed_of(*scope);
  if (feed != nullptr) feed->is_unsettled = false;
  if (scope->fetch_mode() != FetchMode::list_watch) return;
  if (doubt_of(*scope) != sync::watch::Doubt::none) return;
  // A list that is under way may have begun before the writes.
  if (scope->listing_since() || restarts(*scope)) return;
  const bool watches = watching_ >= turn_of(scope->key());
  const bool has_missed_events = scope->cache().has_missed_events();
  const auto states = states_of(*scope, last_answer, !watches);
  const bool is_early = !states && states.error().code == Errc::unavailable;
  if (is_early && feed != nullptr) feed->is_unsettled = true;
  if (!states || !content_.settle(*scope, *states)) {
    log_debug("scope still shows local versions", {{"path", scope->path()}});
    return;
  }
  // What a watch or list has brought since the turns began is the API server's present state.
  if (watches && scope->refreshed_at() >= turns_began_) {
    resumption_.note_shown(scope->cache().server_version());
  }
  if (watches && has_missed_events) restart(*scope, Restart::watch);
}

}  // namespace holdfast::agent
