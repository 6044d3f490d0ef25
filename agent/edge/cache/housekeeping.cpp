#include "agent/edge/cache/housekeeping.h"

#include <algorithm>

#include "agent/edge/cache/stored_tokens.h"
#include "agent/edge/route/caller.h"
#include "platform/log.h"
#include "platform/loop/timer.h"

namespace holdfast::agent {
namespace {

using sync::autonomy::DropReason;

constexpr auto slept = std::chrono::minutes(1);
constexpr auto trim_interval = std::chrono::seconds(2);
constexpr auto sweep_interval = std::chrono::minutes(1);
constexpr std::int64_t trim_page_bytes = 4096;  // HousekeepingLimits count pages of this size

}  // namespace

Housekeeping::Housekeeping(const Settings& settings, Scopes& scopes, StoredAnswers& answers,
                           const Uplink& uplink, PodNeeds& needs,
                           std::vector<store::Database*> databases, const Clock& clock)
    : settings_(settings),
      scopes_(scopes),
      answers_(answers),
      uplink_(uplink),
      needs_(needs),
      databases_(std::move(databases)),
      clock_(clock),
      began_(clock.mono()),
      last_request_at_(clock.mono()) {
  for (const DropReason reason : {DropReason::unused, DropReason::foreign, DropReason::events,
                                  DropReason::orphaned, DropReason::gone}) {
    dropped_[to_string(reason)] = 0;
  }
}

asio::awaitable<void> Housekeeping::run() {
  bool trimming = false;
  MonoTime due = clock_.mono() + settings_.interval;
  MonoTime sweep_due = clock_.mono() + sweep_interval;
  for (;;) {
    MonoTime next = std::min(due, sweep_due);
    if (trimming) next = std::min(next, clock_.mono() + trim_interval);
    co_await loop::sleep_until(next);
    // Time spent in suspend does not count as idle time, because no client could ask.
    if (clock_.mono() - next > slept) began_ = clock_.mono();
    const bool connected = uplink_.link().allows_reads();
    if (clock_.mono() >= sweep_due) {
      sweep_due = clock_.mono() + sweep_interval;
      if (connected) drop_unneeded_scopes(true);
    }
    if (clock_.mono() >= due) {
      due = clock_.mono() + settings_.interval;
      if (auto checked = scopes_.check_file(); !checked) {
        log_error("cache not checked", {{"error", checked.error()}});
      }
      if (connected) pass();
      trimming = true;
    }
    if (trimming) trimming = trim();
  }
}

sync::autonomy::ScopeUse Housekeeping::use_of(const LocalScope& scope) const {
  const store::ScopeKey& key = scope.key();
  const MonoTime now = clock_.mono();
  sync::autonomy::ScopeUse use{.resource = key.resource, .namespace_name = key.namespace_name};
  use.name = scope.object_name();
  use.foreign = key.owner != node_owner;
  use.watched = scope.watched();
  use.has_unsent_writes = scope.cache().has_local_events();
  use.gone = scope.cache().complete() && scope.cache().objects().empty();
  use.for_pods_only = !use.foreign && scope.only_kubelet_requested();
  use.idle_in_run = now - std::max(began_, scope.used_at());
  // The stored time of the last use only counts if the scope was not used in this run.
  const bool in_this_run = scope.used_at() >= began_;
  use.idle_by_calendar = in_this_run ? use.idle_in_run : clock_.wall() - scope.last_used();
  return use;
}

void Housekeeping::pass() {
  scopes_.remember_use();
  drop_unneeded_scopes(false);
  if (const auto uids = needs_.pod_uids()) {
    if (auto removed = remove_unneeded_tokens(answers_, *uids); !removed) {
      log_error("tokens of pods that are gone not removed", {{"error", removed.error()}});
    }
  }
  if (auto removed = answers_.remove_expired(); !removed) {
    log_error("expired answers not removed", {{"error", removed.error()}});
  }
}

void Housekeeping::drop_unneeded_scopes(bool one_object) {
  needs_.update();
  std::vector<std::pair<ScopePtr, DropReason>> unneeded;
  for (const auto& [key, scope] : scopes_.table().all()) {
    const sync::autonomy::ScopeUse use = use_of(*scope);
    if (one_object && !use.holds_one()) continue;
    const DropReason reason = sync::autonomy::drop_reason_of(use, needs_.all(), settings_.limits);
    if (reason != DropReason::no) unneeded.emplace_back(scope, reason);
  }
  for (const auto& [scope, reason] : unneeded) {
    if (auto gone = scopes_.drop(*scope); !gone) {
      log_error("scope not dropped", {{"path", scope->path()}, {"error", gone.error()}});
      continue;
    }
    ++dropped_[to_string(reason)];
    log_info("scope dropped", {{"path", scope->path()},
                               {"fields", scope->key().field_selector},
                               {"why", to_string(reason)}});
  }
}

bool Housekeeping::trim() {
  bool more = false;
  const Duration idle = clock_.mono() - last_request_at_;
  for (store::Database* database : databases_) {
    const auto pages = database->pages();
    if (!pages) {
      log_error("pages of a database not counted", {{"error", pages.error()}});
      continue;
    }
    const std::int64_t unit = std::max<std::int64_t>(1, trim_page_bytes / pages->bytes);
    const sync::autonomy::FilePages counted{pages->total / unit, pages->free / unit};
    // Whether there would be pages to return if no client had been active.
    more = more || sync::autonomy::trim_step(counted, Duration::max(), settings_.limits) > 0;
    const int step = sync::autonomy::trim_step(counted, idle, settings_.limits);
    if (step == 0) continue;
    if (auto trimmed = database->trim(step * static_cast<int>(unit)); !trimmed) {
      log_error("database file not trimmed",
                {{"file", database->name()}, {"error", trimmed.error()}});
    }
  }
  return more;
}

}  // namespace holdfast::agent
