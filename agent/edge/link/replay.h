// Sends the queued writes that were accepted while the cloud was unreachable: several objects at a
// time, the writes of one object in order. A status is sent as a patch of the object's current
// state in the cloud.
//
// Each write is judged by its own answer. A write that is refused for now waits by itself, longer
// each time, while the others continue. If the answer shows a problem of the server or of our
// credentials (no answer, 401, 429, 503), the drain ends; a write to which that happens again waits
// by itself, because it may be the cause: an admission webhook that hangs, say. Before the first
// byte of a write is sent, it is durably marked as being sent. Marking and settling are grouped,
// with one durable write per group.
//
// Threading: the loop's thread only. A Replay must outlive its calls.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/edge/forward/uplink.h"
#include "agent/edge/offline/offline_store.h"
#include "sync/autonomy/answered_state.h"
#include "sync/autonomy/replay.h"

namespace holdfast::agent {

struct ReplayLimits {
  std::size_t in_flight = 12;  // objects whose writes are sent at the same time; see ReplayWidth
  std::size_t group = 32;      // entries marked or settled with one durable write
  Duration group_time = std::chrono::milliseconds(200);  // answered entries are settled within this
  // The pause after a drain that failed while connected, doubled with each further one. It is at
  // least the server's Retry-After, of which no more than `pause_max` counts.
  Duration pause_min = std::chrono::seconds(2);
  Duration pause_max = std::chrono::seconds(60);
  std::size_t answers = 4UL << 20;  // bytes of the objects in kept answers
};

class Replay {
 public:
  Replay(std::string node_name, Uplink& uplink, OfflineStore& offline_store, const Clock& clock);
  ~Replay();

  // Sends all entries that may be sent now. Entries that wait, or are queued meanwhile, stay
  // queued: a node that goes on writing must not keep it from its end. Only one drain runs at a
  // time; a second call waits for it. Errors: those of the link, of an overloaded server, and of
  // the disk; what was not sent stays queued.
  // So do Events that were queued after `events_until`: no scope shows them.
  asio::awaitable<Status> drain(MonoTime events_until = MonoTime::max());

  // Whether the last drain had a write that the server did not take (no answer, 401, 429 or 503),
  // and no error of the disk.
  [[nodiscard]] bool was_not_taken() const { return not_taken_; }

  // Begins to keep the states in which the API server has shown written objects; or stops that and
  // forgets them.
  void keep_answers(bool keep);
  // What the answers that are kept tell of an object.
  [[nodiscard]] sync::autonomy::LastAnswer last_answer(
      const sync::autonomy::WrittenObject& object) const;

  // Makes a drain due now, for entries that the last one has left in the queue, unless one that
  // failed asks for a pause.
  void drain_soon();

  // When a queued entry may be sent, again or for the first time; MonoTime::max() if none waits.
  [[nodiscard]] MonoTime due() const;

  // Call it after drain() was cancelled: cancels and waits for requests that it left running.
  asio::awaitable<void> join();

 private:
  struct Round;
  class UnderWay;
  struct Waiting {
    int refusals = 0;
    int failures = 0;  // drains that it has ended, or would have
    MonoTime due;
  };

  // The loop of one drain.
  asio::awaitable<void> run(Round& round);
  // Before a drain: makes the entries of one that could not settle them maybe sent.
  [[nodiscard]] Status give_up_attempts();
  // One OfflineStore::next_batch(). Errors: the disk's.
  [[nodiscard]] Status next_batch(Round& round);
  // Starts attempts for marked entries, as many at a time as width_ allows.
  void launch(Round& round);
  // `counted` counts the attempt until its end.
  asio::awaitable<void> attempt(Round& round, store::Entry entry,
                                std::unique_ptr<UnderWay> counted);
  asio::awaitable<void> send(Round& round, store::Entry& entry);
  // Prepares the patch of a status write in entry.write.body. Returns false if the attempt has
  // ended instead.
  asio::awaitable<bool> prepare(Round& round, store::Entry& entry);
  asio::awaitable<Result<http::Response>> ask(const store::Entry& entry, bool object);
  void handle_answer(Round& round, const store::Entry& entry, const Result<http::Response>& answer,
                     bool object);
  // Ends an entry. `why` says why it was not applied; "" if it was. `detail` is JSON for the
  // journal.
  void end(Round& round, const store::Entry& entry, store::Outcome outcome,
           const std::string& why = {}, std::string detail = {});
  // Keeps what an answer to an entry shows, within ReplayLimits::answers. `verb`: see WriteAnswer.
  void keep_answer(const store::Write& write, std::string_view verb, const http::Response& answer);
  void forget_answer(const store::Write& write);
  // Keeps an entry queued, with what is known about its attempt.
  void requeue(Round& round, const store::Entry& entry, store::Attempt attempt);
  // Keeps an entry queued and makes it wait.
  void retry_later(Round& round, const store::Entry& entry, const http::Response& answer,
                   bool object);
  // The server did not take the entry. Ends the drain, unless that has happened to the entry
  // before.
  void note_failure(Round& round, const store::Entry& entry, Status why, Duration pause);
  // The entries that still wait.
  [[nodiscard]] std::set<store::EntryId> held_back() const;
  void forget_finished_entries(MonoTime began);
  // The time that the entry's next request may take.
  [[nodiscard]] Duration request_limit(const store::Entry& entry) const;
  // Takes the outcome of a request, and how long it took, into account for width_.
  void adapt_width(const Result<http::Response>& answer, Duration took);

  const std::string node_name_;
  Uplink& uplink_;
  OfflineStore& offline_store_;
  const Clock& clock_;
  std::shared_ptr<Round> round_;  // the current drain or the last one
  bool running_ = false;
  std::map<store::EntryId, Waiting> waiting_;  // entries refused for now
  std::optional<MonoTime> next_drain_;         // when to drain again after a drain that failed
  int failed_drains_ = 0;                      // in a row
  sync::autonomy::ReplayWidth width_{ReplayLimits().in_flight};
  bool has_unsettled_ = false;  // a drain runs, or its last entries were not settled
  bool not_taken_ = false;
  bool keeps_answers_ = false;
  std::map<sync::autonomy::WrittenObject, sync::autonomy::AnsweredState> answered_;
  std::size_t answered_bytes_ = 0;
};

}  // namespace holdfast::agent
