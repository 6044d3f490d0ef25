#include "agent/edge/housekeeping.h"

#include <algorithm>

#include "agent/edge/caller.h"
#include "platform/log.h"
#include "platform/loop/timer.h"

namespace holdfast::agent {
namespace {

using sync::Leftover;

constexpr std::string_view by_name = "metadata.name=";
constexpr auto slept = std::chrono::minutes(1);
constexpr auto trim_interval = std::chrono::seconds(2);

}  // namespace

Housekeeping::Housekeeping(const EdgeOptions& options, Scopes& scopes, const Uplink& uplink,
                           std::vector<store::Database*> databases, const Clock& clock)
    : options_(options),
      scopes_(scopes),
      uplink_(uplink),
      databases_(std::move(databases)),
      clock_(clock),
      began_(clock.mono()),
      heard_at_(clock.mono()) {
  for (const Leftover reason :
       {Leftover::unused, Leftover::foreign, Leftover::events, Leftover::orphaned}) {
    dropped_[to_string(reason)] = 0;
  }
}

asio::awaitable<void> Housekeeping::run() {
  bool trimming = false;
  MonoTime due = clock_.mono() + options_.housekeeping_interval;
  for (;;) {
    const MonoTime next = trimming ? std::min(due, clock_.mono() + trim_interval) : due;
    co_await loop::sleep_until(next);
    // Who slept could not ask: the machine's sleep is nobody's idleness.
    if (clock_.mono() - next > slept) began_ = clock_.mono();
    if (clock_.mono() >= due) {
      due = clock_.mono() + options_.housekeeping_interval;
      if (uplink_.link().may_ask()) pass();
      trimming = true;
    }
    if (trimming) trimming = trim();
  }
}

std::optional<sync::PodReferences> Housekeeping::references() const {
  sync::PodReferences found;
  bool known = false;
  for (const auto& [key, scope] : scopes_.all()) {
    const bool pods = key.owner == node_owner && key.group.empty() && key.resource == "pods";
    if (!pods || scope->refused()) continue;
    // Of this run: the last one's may be as old as the outage.
    if (!scope->cache().complete() || scope->listed_at() == MonoTime::min()) continue;
    const bool all = key.field_selector == "spec.nodeName=" + options_.node_name;
    known =
        known || all ||
        (key.field_selector.empty() && key.label_selector.empty() && key.namespace_name.empty());
    for (const auto& [name, object] : scope->cache().objects()) {
      const auto json = sync::cached_json(scope->cache().kind(), *object.bytes);
      if (!json || !sync::add_references(*json, found)) return std::nullopt;
    }
  }
  return known ? std::optional(std::move(found)) : std::nullopt;
}

sync::ScopeUse Housekeeping::use_of(const LocalScope& scope) const {
  const store::ScopeKey& key = scope.key();
  const MonoTime now = clock_.mono();
  sync::ScopeUse use{.resource = key.resource, .namespace_name = key.namespace_name};
  if (key.label_selector.empty() && key.field_selector.starts_with(by_name)) {
    use.name = key.field_selector.substr(by_name.size());
  }
  use.foreign = key.owner != node_owner;
  use.watched = scope.watched();
  use.owes = scope.cache().has_local_events();
  use.idle_in_run = now - std::max(began_, scope.used_at());
  const bool in_this_run = scope.used_at() >= began_;
  use.idle_by_calendar = in_this_run ? use.idle_in_run : clock_.wall() - scope.last_used();
  return use;
}

void Housekeeping::pass() {
  scopes_.remember_use();
  const auto named = references();
  std::vector<std::pair<ScopePtr, Leftover>> leftovers;
  for (const auto& [key, scope] : scopes_.all()) {
    const Leftover leftover =
        sync::judge_scope(use_of(*scope), named ? &*named : nullptr, options_.housekeeping);
    if (leftover != Leftover::no) leftovers.emplace_back(scope, leftover);
  }
  for (const auto& [scope, leftover] : leftovers) {
    if (auto gone = scopes_.drop(*scope); !gone) {
      log_error("scope not dropped", {{"path", scope->path()}, {"error", gone.error()}});
      continue;
    }
    ++dropped_[to_string(leftover)];
    log_info("scope dropped", {{"path", scope->path()},
                               {"fields", scope->key().field_selector},
                               {"why", to_string(leftover)}});
  }
  if (auto removed = scopes_.remove_expired_answers(); !removed) {
    log_error("answers not removed", {{"error", removed.error()}});
  }
}

bool Housekeeping::trim() {
  bool more = false;
  const Duration idle = clock_.mono() - heard_at_;
  for (store::Database* database : databases_) {
    const auto pages = database->pages();
    if (!pages) {
      log_error("pages not counted", {{"error", pages.error()}});
      continue;
    }
    const sync::FilePages counted{pages->total, pages->free};
    more = more || sync::trim_step(counted, Duration::max(), options_.housekeeping) > 0;
    const int step = sync::trim_step(counted, idle, options_.housekeeping);
    if (step == 0) continue;
    if (auto trimmed = database->trim(step); !trimmed) {
      log_error("file not trimmed", {{"file", database->name()}, {"error", trimmed.error()}});
    }
  }
  return more;
}

}  // namespace holdfast::agent
