#include <algorithm>
#include <utility>

#include "agent/lab/sim/edge.h"
#include "sync/autonomy/owned_status.h"
#include "sync/autonomy/replay.h"

namespace holdfast::agent::lab::sim {

using sync::autonomy::LinkState;
using sync::autonomy::ReplayOutcome;

namespace {

// The limits of agent/edge/link.
constexpr Duration upstream_limit = std::chrono::seconds(10);
constexpr Duration turn_limit = std::chrono::seconds(5);
constexpr Duration look_again = std::chrono::milliseconds(50);
constexpr Duration pause_min = std::chrono::seconds(2);
constexpr Duration replay_interval = std::chrono::seconds(1);

std::string object_path(const OutboxEntry& entry) {
  const std::string suffix = "/" + entry.object.subresource;
  std::string path = entry.write.target;
  if (suffix.size() > 1 && path.ends_with(suffix)) path.resize(path.size() - suffix.size());
  return path;
}

}  // namespace

// The stages of Rejoin in agent/edge/link: check the node, send the outbox, refresh the scopes by
// turns, and catch up with what was accepted meanwhile.
void Edge::begin_rejoin() {
  process_->rejoining.end();
  renew_meanwhile();
  const bool has_cache = process_->pods.cache().complete() || process_->node.cache().complete();
  const Duration pause =
      has_cache ? link().random(Draw::agent).jitter(config_.rejoin_jitter) : Duration::zero();
  engine_.after(pause, process_->rejoining, [this] { check_node(); });
}

void Edge::renew_meanwhile() {
  engine_.after(config_.link.probe_interval, process_->rejoining, [this] {
    renew_meanwhile();
    renew_upstream(process_->rejoining);
  });
}

void Edge::end_rejoin(bool done, const std::string& why) {
  process_->rejoining.end();
  process_->draining = false;
  if (process_->link.state() != LinkState::rejoining) return;
  if (done) {
    process_->link.rejoined(engine_.now());
  } else {
    process_->link.rejoin_failed(engine_.now(), why);
  }
  announce();
}

void Edge::check_node() {
  Request request{.kind = RequestKind::other, .verb = "GET", .path = "/api/v1/nodes/" + node_};
  send(process_->rejoining, std::move(request), upstream_limit, [this](const Answer& answer) {
    const bool failed =
        answer.status == 0 || answer.status == too_many || answer.status == unavailable;
    if (failed) return end_rejoin(false, "node: " + answer.why);
    if (answer.status == ok) {
      disk_.outbox.drop_superseded(
          {.is_resource = true, .version = "v1", .resource = "nodes", .name = node_});
    }
    drain([this](bool drained) {
      if (!drained) return end_rejoin(false, "outbox");
      refresh_in_turns();
    });
  });
}

void Edge::refresh_in_turns() {
  auto& resumption = process_->resumption;
  const auto shown = sync::objects::parse_version(process_->lease_version.value_or(""));
  resumption.begin(shown.value_or(0));
  for (const ScopeOf of : {ScopeOf::node, ScopeOf::pods}) resumption.note(scope(of).cache());
  refresh(ScopeOf::node, resumption.resume_from(process_->node.cache()), [this] {
    refresh(ScopeOf::pods, process_->resumption.resume_from(process_->pods.cache()),
            [this] { catch_up(); });
  });
}

void Edge::refresh(ScopeOf of, std::string resume_from, Task then) {
  scope(of).stop();
  scope(of).start(std::move(resume_from));
  await_refresh(of, engine_.now(), engine_.now() + turn_limit, std::move(then));
}

void Edge::await_refresh(ScopeOf of, MonoTime since, MonoTime deadline, Task then) {
  if (scope(of).refreshed_at() >= since || engine_.now() >= deadline) return then();
  engine_.after(look_again, process_->rejoining,
                [this, of, since, deadline, then = std::move(then)]() mutable {
                  await_refresh(of, since, deadline, std::move(then));
                });
}

void Edge::catch_up() {
  drain([this, accepted = disk_.outbox.accepted()](bool drained) {
    if (!drained) return end_rejoin(false, "outbox");
    if (disk_.outbox.accepted() != accepted) return catch_up();
    for (const ScopeOf of : {ScopeOf::node, ScopeOf::pods}) {
      if (scope(of).cache().has_local_events()) {
        return refresh(of, "", [this] { catch_up(); });
      }
    }
    end_rejoin(true, "");
  });
}

// -------------------------------------------------------------------------------------- outbox

void Edge::drain(Stage then) {
  process_->draining = true;
  drain_next(process_->rejoining, std::move(then));
}

// One write after the other, until none may be sent now.
void Edge::drain_next(const Life& life, Stage then) {
  const OutboxEntry* entry = disk_.outbox.next();
  if (entry == nullptr) {
    process_->draining = false;
    return then(true);
  }
  send_entry(life, entry->id, std::move(then));
}

void Edge::send_entry(const Life& life, std::uint64_t id, Stage then) {
  const OutboxEntry& entry = *disk_.outbox.find(id);
  const Duration age = std::max(clock_.wall() - entry.created, Duration::zero());
  if (sync::autonomy::is_expired(entry.object.resource, age)) {
    disk_.outbox.settle(id, "expired");
    return drain_next(life, std::move(then));
  }
  if (!sync::autonomy::is_owned_status(entry.write.verb, entry.object.resource,
                                       entry.object.subresource)) {
    return send_write(life, id, entry.write.body, std::move(then));
  }
  Request read{.kind = RequestKind::other, .verb = "GET", .path = object_path(entry)};
  send(life, std::move(read), upstream_limit,
       [this, &life, id, then = std::move(then)](const Answer& answer) mutable {
         if (answer.status != ok) return settle(life, id, true, answer, std::move(then));
         send_patch(life, id, answer, std::move(then));
       });
}

void Edge::send_patch(const Life& life, std::uint64_t id, const Answer& theirs, Stage then) {
  const OutboxEntry* entry = disk_.outbox.find(id);
  if (entry == nullptr) return drain_next(life, std::move(then));
  const auto patch = sync::autonomy::replay_patch({.resource = entry->object.resource,
                                                   .node_name = node_,
                                                   .queued = entry->write.body,
                                                   .theirs = theirs.body});
  using What = sync::autonomy::ReplayPatch::What;
  if (patch && patch->what == What::send) {
    return send_write(life, id, patch->body, std::move(then));
  }
  const bool conflicts = patch && patch->what == What::conflict;
  disk_.outbox.settle(id, !patch ? "rejected" : conflicts ? "conflict" : "applied");
  drain_next(life, std::move(then));
}

void Edge::send_write(const Life& life, std::uint64_t id, const std::string& body, Stage then) {
  const OutboxEntry& entry = *disk_.outbox.find(id);
  Request request{
      .kind = entry.object.resource == "nodes" ? RequestKind::node_status : RequestKind::pod_status,
      .verb = entry.write.verb,
      .path = entry.write.target,
      .content_type = entry.write.content_type,
      .body = body};
  if (entry.write.verb == "DELETE") request.kind = RequestKind::removal;
  send(life, std::move(request), upstream_limit,
       [this, &life, id, then = std::move(then)](const Answer& answer) mutable {
         settle(life, id, false, answer, std::move(then));
       });
}

void Edge::settle(const Life& life, std::uint64_t id, bool is_read, const Answer& answer,
                  Stage then) {
  OutboxEntry* entry = disk_.outbox.find(id);
  if (entry == nullptr) return drain_next(life, std::move(then));
  if (answer.status == 0) {
    disk_.outbox.requeue(id, !is_read);
    process_->draining = false;
    return then(false);
  }
  const auto outcome = sync::autonomy::outcome_of_answer(
      {.verb = is_read ? "GET" : std::string_view(entry->write.verb),
       .http_status = answer.status,
       .body = answer.body,
       .maybe_sent = entry->maybe_sent,
       .refusals = entry->refusals,
       .resource = entry->object.resource});
  switch (outcome) {
    case ReplayOutcome::wait:
      entry->due = engine_.now() + sync::autonomy::replay_backoff(++entry->refusals);
      disk_.outbox.requeue(id, !is_read && sync::autonomy::may_have_arrived(answer.status));
      return drain_next(life, std::move(then));
    case ReplayOutcome::retry:
      entry->due = engine_.now() + pause_min;
      disk_.outbox.requeue(id, !is_read && sync::autonomy::may_have_arrived(answer.status));
      process_->draining = false;
      return then(false);
    case ReplayOutcome::applied:
    case ReplayOutcome::conflict:
    case ReplayOutcome::rejected:
      disk_.outbox.settle(id, sync::autonomy::to_string(outcome));
      return drain_next(life, std::move(then));
  }
}

// While connected: sends what was refused earlier once it is due. It rests while there is nothing,
// except with one random source for all: the order of what happens at the same time would change
// what each node draws, and so the traces of known seeds.
void Edge::replay_when_due() {
  engine_.after(replay_interval, process_->life, [this] {
    if (link().has_own_random() && disk_.outbox.entries().empty()) {
      process_->replay_rests = engine_.now();
      return;
    }
    replay_when_due();
    replay_if_due();
  });
}

void Edge::replay_if_due() {
  const bool idle = process_->link.state() == LinkState::connected && !process_->draining;
  if (!idle || disk_.outbox.due() > engine_.now()) return;
  process_->draining = true;
  drain_next(process_->life, [](bool) {});
}

// The outbox is not empty any more: looks at it each second again.
void Edge::resume_replay() {
  if (!process_->replay_rests) return;
  const MonoTime next =
      next_in_rhythm(*process_->replay_rests + replay_interval, replay_interval, engine_.now());
  process_->replay_rests.reset();
  engine_.at(next, process_->life, [this] {
    replay_when_due();
    replay_if_due();
  });
}

}  // namespace holdfast::agent::lab::sim
