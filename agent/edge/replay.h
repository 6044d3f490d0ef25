// Sends the writes that were accepted while the cloud was away: several objects at a time, the
// writes of one object in order. A status is sent as a patch of what the cloud has then.
//
// Each write is judged by its own answer. One that is refused for now waits by itself, longer each
// time, and the others go on. What says that the server or our credentials are the reason (no
// answer, 401, 429, 503) ends the drain. That an entry is being sent is durable before its first
// byte leaves; entries are marked and settled in groups, each group with one durable write.
//
// Threading: the loop's thread only. Outlive the calls.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/edge/ledger.h"
#include "agent/edge/options.h"
#include "agent/edge/uplink.h"
#include "sync/autonomy/replay.h"

namespace holdfast::agent {

struct ReplayLimits {
  std::size_t in_flight = 12;  // objects whose writes are under way at the same time
  std::size_t group = 32;      // entries that are marked, or settled, with one durable write
  Duration group_time = std::chrono::milliseconds(200);  // what has ended is settled by then
  Duration request = std::chrono::seconds(10);           // for one request
  Duration pause_min = std::chrono::seconds(2);   // after a drain that failed while connected, or
  Duration pause_max = std::chrono::seconds(60);  // as long as the server asked for
};

class Replay {
 public:
  Replay(const EdgeOptions& options, Uplink& uplink, Ledger& ledger, const Clock& clock);
  ~Replay();

  // Sends all that may be sent now; what waits by itself stays queued. One drain runs at a time,
  // another waits for it. Errors: those of the link, of an overloaded server, and of the disk;
  // what was not sent stays queued.
  asio::awaitable<Status> drain();

  // When something that stayed queued may be sent again; MonoTime::max(): nothing did.
  [[nodiscard]] MonoTime due() const;

  // After drain() was cancelled: waits for what it may have left under way.
  asio::awaitable<void> join();

 private:
  struct Round;
  struct Waiting {
    int refusals = 0;
    MonoTime due;
  };

  asio::awaitable<void> run(Round& round);
  [[nodiscard]] Status turn(Round& round);
  void launch(Round& round);
  asio::awaitable<void> attempt(Round& round, store::Entry entry);
  asio::awaitable<void> send(Round& round, store::Entry& entry);
  // False when the attempt has ended; otherwise entry.write.body is what is to be sent.
  asio::awaitable<bool> prepare(Round& round, store::Entry& entry);
  asio::awaitable<Result<http::Response>> ask(const store::Entry& entry, bool object);
  void judge(Round& round, const store::Entry& entry, const Result<http::Response>& answer,
             bool object);
  // `why` it was not applied, for people; "" when it was. `detail` is JSON for the journal.
  void end(Round& round, const store::Entry& entry, store::Outcome outcome,
           const std::string& why = {}, std::string detail = {});
  void put_back(Round& round, const store::Entry& entry, store::Attempt attempt);
  void refuse_for_now(Round& round, const store::Entry& entry, const http::Response& answer,
                      bool object);
  [[nodiscard]] std::set<store::EntryId> held_back() const;
  void forget_those_gone(MonoTime began);

  const EdgeOptions& options_;
  Uplink& uplink_;
  Ledger& ledger_;
  const Clock& clock_;
  std::shared_ptr<Round> round_;  // under way, or the last one
  bool running_ = false;
  std::map<store::EntryId, Waiting> waiting_;  // by themselves
  std::optional<MonoTime> again_;              // after a drain that failed
};

}  // namespace holdfast::agent
