// The part of ScopeReflectors that notes what lists and watches say of the health of their scopes.

#include "agent/edge/cache/scope_reflectors.h"
#include "platform/log.h"
#include "sync/watch/list_place.h"

namespace holdfast::agent {

void ScopeReflectors::note_failure(LocalScope& scope, ScopeHealth::Part part,
                                   const sync::watch::Failure& failure) {
  const bool reached = failure.http_status != 0 || failure.code == Errc::exhausted;
  // While the link is down, a failure says nothing about the scope.
  if (!reached && uplink_.link().state() == sync::autonomy::LinkState::offline) return;
  const bool may_be_got = !scope.object_name().empty() && scope.fetch_mode() != FetchMode::get;
  if (failure.http_status == 403 && may_be_got) {
    scope.set_fetch_mode(FetchMode::get);
    return list_again({scope.shared_from_this()});
  }
  const bool goes_to_disk =
      !scope.keeps_on_disk() && belongs_on_disk(scope.key().owner, failure, table_.limits());
  if (goes_to_disk) {
    log_info("list is kept on disk, as it is too large for memory",
             {{"path", scope.path()}, {"reason", failure.what}});
    scope.set_keeps_on_disk(true);
    scope.changed().notify_all();
    return list_again({scope.shared_from_this()});
  }
  note_answer(scope);
  const bool news = scope.health().fail(clock_.mono(), part, failure);
  scope.changed().notify_all();
  if (!news) return;
  const bool expected = scope.optional() && scope.refused();
  const auto log = expected ? log_info : log_warn;
  log(expected ? "optional scope not available: this node may not read it"
               : "scope cannot be refreshed",
      {{"path", scope.path()},
       {"fields", scope.key().field_selector},
       {"fault", to_string(scope.health().fault())},
       {"reason", failure.what}});
  on_health_(scope);
}

void ScopeReflectors::note_success(LocalScope& scope, ScopeHealth::Part part) {
  if (part == ScopeHealth::Part::list) note_answer(scope);
  if (!scope.health().succeed(part)) return;
  log_info("scope is refreshed again",
           {{"path", scope.path()}, {"fields", scope.key().field_selector}});
  scope.changed().notify_all();
  on_health_(scope);
}

void ScopeReflectors::list_in_memory(const ScopePtr& scope) {
  resumption_.note_shown(scope->cache().server_version());
  restart(*scope, Restart::watch);
}

void ScopeReflectors::note_answer(const LocalScope& scope) {
  // The feed that ends may still get one.
  Feed* const feed = feed_of(scope);
  if (feed != nullptr && !feed->restart) feed->is_restarting = false;
}

}  // namespace holdfast::agent
