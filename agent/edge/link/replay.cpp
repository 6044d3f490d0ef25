#include "agent/edge/link/replay.h"

#include <algorithm>
#include <deque>

#include "agent/client/limited_client.h"
#include "platform/check.h"
#include "platform/http/grammar.h"
#include "platform/log.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/scoped.h"
#include "sync/autonomy/owned_status.h"
#include "sync/wire/json.h"

namespace holdfast::agent {
namespace {

constexpr ReplayLimits replay_limits;

store::Outcome outcome_of(sync::autonomy::ReplayOutcome outcome) {
  switch (outcome) {
    case sync::autonomy::ReplayOutcome::applied:
      return store::Outcome::applied;
    case sync::autonomy::ReplayOutcome::conflict:
      return store::Outcome::conflict;
    case sync::autonomy::ReplayOutcome::rejected:
      return store::Outcome::rejected;
    case sync::autonomy::ReplayOutcome::retry:
    case sync::autonomy::ReplayOutcome::wait:
      break;
  }
  UNREACHABLE();
}

std::string refused(std::string_view why) {
  return sync::wire::serialize(sync::json::object{{"refused", why}});
}

// What was sent and what was answered, for the journal.
std::string both_sides(const store::Write& write, const http::Response& answer) {
  return sync::wire::serialize(sync::json::object{
      {"sent", write.body}, {"status", answer.status}, {"answered", answer.body}});
}

bool is_owned_status(const store::Write& write) {
  return sync::autonomy::is_owned_status(write.verb, write.object.resource,
                                         write.object.subresource);
}

// The path of the object whose status is written at `target`.
std::string target_of_object(const store::Write& write) {
  const std::string suffix = "/" + write.object.subresource;
  std::string target = write.target;
  if (suffix.size() > 1 && target.ends_with(suffix)) target.resize(target.size() - suffix.size());
  return target;
}

}  // namespace

// The state of one drain.
struct Replay::Round {
  Round(const asio::any_io_executor& executor, MonoTime now, MonoTime events,
        std::uint64_t replacements_before)
      : began(now),
        events_until(events),
        replacements(replacements_before),
        changed(executor),
        tasks(executor) {}

  // Ends the drain: nothing more is sent. The first reason counts.
  void stop(Status why) {
    if (failed) return;
    failed = true;
    result = std::move(why);
  }
  // Whether to call the outbox: to settle ended entries, or to get more.
  [[nodiscard]] bool wants_turn() const {
    if (ended.size() >= replay_limits.group) return true;
    if (under_way == 0 && !ended.empty()) return true;
    return !failed && ready.empty() && !exhausted;
  }

  const MonoTime began;
  const MonoTime events_until;
  const std::uint64_t replacements;  // OfflineStore::replacements() when it began
  loop::Event changed;
  loop::Tasks tasks;
  std::deque<store::Entry> ready;                    // marked as being sent
  std::vector<OfflineStore::FinishedAttempt> ended;  // not settled yet
  std::size_t under_way = 0;
  std::int64_t after = 0;  // position in the outbox from which to read on
  bool took = false;       // entries came since the outbox was last read from its start
  bool exhausted = false;  // no entry may be sent until another one has ended
  bool failed = false;
  Status result;
};

Replay::Replay(std::string node_name, Uplink& uplink, OfflineStore& offline_store,
               const Clock& clock)
    : node_name_(std::move(node_name)),
      uplink_(uplink),
      offline_store_(offline_store),
      clock_(clock) {}

Replay::~Replay() = default;

// Counts one write under way, however it ends: also if its task never gets a turn.
class Replay::UnderWay {
 public:
  UnderWay(std::size_t& count, loop::Event& changed) : count_(count), changed_(changed) {
    ++count_;
  }
  ~UnderWay() {
    --count_;
    changed_.notify_all();
  }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  std::size_t& count_;
  loop::Event& changed_;
};

asio::awaitable<Status> Replay::drain(MonoTime events_until) {
  // Waits for another drain: round_ belongs to the one that runs.
  while (running_)
    (void)co_await round_->changed.wait_until(clock_.mono() + replay_limits.group_time);
  const ScopedValue running(running_, true);
  const MonoTime began = clock_.mono();
  const auto executor = co_await asio::this_coro::executor;
  if (auto done = give_up_attempts(); !done) co_return done;
  const auto round =
      std::make_shared<Round>(executor, began, events_until, offline_store_.replacements());
  round_ = round;
  next_drain_.reset();
  not_taken_ = false;
  co_await run(*round);
  co_await round->tasks.join();
  if (round->failed) {
    const Duration pause = sync::autonomy::drain_backoff(++failed_drains_);
    next_drain_ = std::max(next_drain_.value_or(MonoTime::min()), clock_.mono() + pause);
  } else {
    failed_drains_ = 0;
    forget_finished_entries(began);
  }
  co_return round->result;
}

// Otherwise entries whose end the disk could not record would never be sent again.
Status Replay::give_up_attempts() {
  if (has_unsettled_) {
    if (auto done = offline_store_.give_up_attempts(); !done) {
      next_drain_ = clock_.mono() + sync::autonomy::drain_backoff(++failed_drains_);
      return done;
    }
  }
  has_unsettled_ = true;
  return {};
}

// Repeats until nothing is left: settle ended entries and read more of the outbox, start attempts,
// wait until one has ended or group_time has passed.
asio::awaitable<void> Replay::run(Round& round) {
  bool overdue = false;
  for (;;) {
    // Entries that were marked but not sent go back.
    if (round.failed) {
      for (const store::Entry& entry : round.ready) {
        requeue(round, entry, store::Attempt::not_sent);
      }
      round.ready.clear();
    }
    if (round.wants_turn() || overdue) {
      if (auto done = next_batch(round); !done) {
        round.stop(done);
        round.result = done;  // It counts for more than a write that was not taken.
        not_taken_ = false;
        break;
      }
    }
    launch(round);
    if (round.under_way == 0 && round.ready.empty() && !round.wants_turn()) {
      has_unsettled_ = false;
      co_return;
    }
    if (round.under_way == 0) continue;
    const MonoTime limit =
        round.ended.empty() ? MonoTime::max() : clock_.mono() + replay_limits.group_time;
    overdue = !co_await round.changed.wait_until(limit) && !round.ended.empty();
  }
  // The disk failed, so ended entries are not settled.
  while (round.under_way > 0) co_await round.changed.wait();
}

Status Replay::next_batch(Round& round) {
  if (round.replacements != offline_store_.replacements()) {
    return fail(Errc::unavailable, "the outbox was damaged and has been replaced");
  }
  const std::size_t room = round.failed || !round.ready.empty() ? 0 : replay_limits.group;
  const std::int64_t after = round.after;
  if (after == 0) round.took = false;
  if (!round.ended.empty()) {  // Entries that waited for these may follow, at any position.
    round.exhausted = false;
    round.took = round.took || after > 0;
  }
  TRY(OfflineStore::Batch taken,
      offline_store_.next_batch(
          round.ended, after, room,
          {.ids = held_back(), .accepted_after = round.began, .events_after = round.events_until}));
  round.ended.clear();
  if (room == 0) return {};
  round.after = taken.after;
  round.took = round.took || !taken.entries.empty();
  round.exhausted = taken.after == 0 && !round.took;
  for (store::Entry& entry : taken.entries) round.ready.push_back(std::move(entry));
  return {};
}

void Replay::launch(Round& round) {
  while (!round.failed && !round.ready.empty() && round.under_way < width_.value()) {
    store::Entry entry = std::move(round.ready.front());
    round.ready.pop_front();
    auto counted = std::make_unique<UnderWay>(round.under_way, round.changed);
    round.tasks.spawn("replay", attempt(round, std::move(entry), std::move(counted)));
  }
}

asio::awaitable<void> Replay::attempt(Round& round, store::Entry entry,
                                      [[maybe_unused]] std::unique_ptr<UnderWay> counted) {
  co_await send(round, entry);
}

// ------------------------------------------------------------------------------------ one write

asio::awaitable<void> Replay::send(Round& round, store::Entry& entry) {
  const store::Write& write = entry.write;
  const Duration age = offline_store_.age(entry);
  if (sync::autonomy::is_expired(write.object.resource, age)) {
    log_info("write too old, not replayed", {{"write", write.verb + " " + write.target}});
    const double seconds = std::chrono::duration<double>(age).count();
    const sync::json::object waited{{"waited_seconds", seconds}};
    end(round, entry, store::Outcome::expired, "too old to be replayed",
        sync::wire::serialize(waited));
    co_return;
  }
  // Queued by an old version that did not encode paths.
  if (!http::is_acceptable_target(write.target)) {
    const std::string why = "malformed target";
    end(round, entry, store::Outcome::rejected, why, refused(why));
    co_return;
  }
  if (is_owned_status(write) && !co_await prepare(round, entry)) co_return;
  if (offline_store_.is_superseded(entry.id)) {
    end(round, entry, store::Outcome::superseded);
    co_return;
  }
  const auto answer = co_await ask(entry, false);
  handle_answer(round, entry, answer, false);
}

asio::awaitable<bool> Replay::prepare(Round& round, store::Entry& entry) {
  const auto now = co_await ask(entry, true);
  if (!now || now->status != 200) {
    handle_answer(round, entry, now, true);
    co_return false;
  }
  const sync::autonomy::StatusReplay replay{.resource = entry.write.object.resource,
                                            .node_name = node_name_,
                                            .queued = entry.write.body,
                                            .theirs = now->body};
  auto patch = sync::autonomy::replay_patch(replay);
  if (!patch) {
    const std::string& why = patch.error().what;
    end(round, entry, store::Outcome::rejected, why, refused(why));
    co_return false;
  }
  switch (patch->what) {
    case sync::autonomy::ReplayPatch::What::nothing:
      keep_answer(entry.write, "GET", *now);
      end(round, entry, store::Outcome::applied);
      co_return false;
    case sync::autonomy::ReplayPatch::What::conflict:
      end(round, entry, store::Outcome::conflict, patch->why, both_sides(entry.write, *now));
      co_return false;
    case sync::autonomy::ReplayPatch::What::send:
      break;
  }
  entry.write.body = std::move(patch->body);
  co_return true;
}

// Sends the write itself or, with `object`, a GET of the object whose status it writes.
asio::awaitable<Result<http::Response>> Replay::ask(const store::Entry& entry, bool object) {
  const store::Write& write = entry.write;
  ApiRequest request{.target = object ? target_of_object(write) : write.target};
  if (!object) {
    request.method = http::parse_method(write.verb);
    request.body = write.body;
    request.content_type = write.content_type;
  }
  const MonoTime began = clock_.mono();
  auto answer = co_await uplink_.send(std::move(request), false, request_limit(entry));
  adapt_width(answer, clock_.mono() - began);
  co_return answer;
}

void Replay::handle_answer(Round& round, const store::Entry& entry,
                           const Result<http::Response>& answer, bool object) {
  if (!answer && answer.error().code == Errc::exhausted) {  // The answer was above our limits.
    const http::Response too_large{.status = 507, .body = answer.error().what};
    handle_answer(round, entry, too_large, object);
    return;
  }
  if (!answer) {
    // A GET that failed wrote nothing. A write without an answer may have arrived.
    requeue(round, entry, object ? store::Attempt::not_sent : store::Attempt::maybe_sent);
    if (uplink_.may_succeed_elsewhere(answer.error())) return;
    note_failure(round, entry, fail("outbox", answer.error()), Duration::zero());
    return;
  }
  const store::Write& write = entry.write;
  const auto waits = waiting_.find(entry.id);
  sync::autonomy::ReplayAnswer about{
      .verb = object ? "GET" : std::string_view(write.verb),
      .http_status = answer->status,
      .body = answer->body,
      .maybe_sent = entry.maybe_sent,
      .refusals = waits == waiting_.end() ? 0 : waits->second.refusals,
      .resource = write.object.resource};
  const sync::autonomy::ReplayOutcome outcome = sync::autonomy::outcome_of_answer(about);
  if (outcome == sync::autonomy::ReplayOutcome::wait ||
      outcome == sync::autonomy::ReplayOutcome::retry) {
    retry_later(round, entry, *answer, object);
    if (outcome == sync::autonomy::ReplayOutcome::wait) return;
    const auto pause = pause_of(
        *answer, {.pause_min = replay_limits.pause_min, .pause_max = replay_limits.pause_max});
    note_failure(
        round, entry,
        fail(Errc::unavailable, write.target + ": answered " + std::to_string(answer->status)),
        pause.value_or(replay_limits.pause_min));
    return;
  }
  log_info("replayed", {{"write", write.verb + " " + write.target},
                        {"outcome", sync::autonomy::to_string(outcome)}});
  keep_answer(write, about.verb, *answer);
  if (outcome == sync::autonomy::ReplayOutcome::applied)
    return end(round, entry, store::Outcome::applied);
  const std::string why = "answered " + std::to_string(answer->status);
  end(round, entry, outcome_of(outcome), why, both_sides(write, *answer));
}

void Replay::retry_later(Round& round, const store::Entry& entry, const http::Response& answer,
                         bool object) {
  const bool arrived = !object && sync::autonomy::may_have_arrived(answer.status);
  requeue(round, entry, arrived ? store::Attempt::maybe_sent : store::Attempt::not_sent);
  // The cause is not this write: handle_answer() pauses the whole drain instead.
  if (answer.status == 401 || answer.status == 429 || answer.status == 503) return;
  Waiting& waiting = waiting_[entry.id];
  const Duration wait = sync::autonomy::replay_backoff(++waiting.refusals);
  waiting.due = clock_.mono() + wait;
  log_info("replay refused for now", {{"write", entry.write.verb + " " + entry.write.target},
                                      {"status", answer.status},
                                      {"retry_in", format_duration(wait)}});
}

void Replay::note_failure(Round& round, const store::Entry& entry, Status why, Duration pause) {
  not_taken_ = true;
  Waiting& waiting = waiting_[entry.id];
  ++waiting.failures;
  waiting.due = clock_.mono() + std::max(pause, sync::autonomy::replay_backoff(waiting.failures));
  if (!sync::autonomy::ends_drain(waiting.failures)) return;
  next_drain_ = std::max(next_drain_.value_or(MonoTime::min()), clock_.mono() + pause);
  round.stop(std::move(why));
}

void Replay::end(Round& round, const store::Entry& entry, store::Outcome outcome,
                 const std::string& why, std::string detail) {
  waiting_.erase(entry.id);
  const std::string write = entry.write.verb + " " + entry.write.target;
  uplink_.outage().settled(why.empty() ? "" : write + ": " + why);
  round.ended.push_back({.id = entry.id, .outcome = outcome, .detail = std::move(detail)});
}

void Replay::requeue(Round& round, const store::Entry& entry, store::Attempt attempt) {
  forget_answer(entry.write);
  round.ended.push_back({.id = entry.id, .attempt = attempt});
}

asio::awaitable<void> Replay::join() {
  if (!round_) co_return;
  round_->tasks.cancel();
  co_await round_->tasks.join();
}

}  // namespace holdfast::agent
