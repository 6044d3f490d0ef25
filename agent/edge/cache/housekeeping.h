// Keeps the cache small: drops scopes and tokens that are not needed any more, and returns free
// database pages to the file system, a few at a time and only while no client waits. Once per
// --housekeeping-interval it checks the file of the cache, which could be damaged for months before
// a restart reads it.
//
// It only drops them while the link is connected, so that they can be fetched again. All scopes
// are checked once per --housekeeping-interval, those that hold one object once a minute.
// sync/autonomy/housekeeping.h decides what is dropped.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/edge/cache/pod_needs.h"
#include "agent/edge/cache/scopes.h"
#include "agent/edge/cache/stored_answers.h"
#include "agent/edge/forward/uplink.h"
#include "store/sqlite.h"
#include "sync/autonomy/housekeeping.h"

namespace holdfast::agent {

class Housekeeping {
 public:
  struct Settings {
    Duration interval;  // between two checks of all scopes
    sync::autonomy::HousekeepingLimits limits;
  };
  // All references are borrowed. `databases` are those whose files are trimmed.
  Housekeeping(const Settings& settings, Scopes& scopes, StoredAnswers& answers,
               const Uplink& uplink, PodNeeds& needs, std::vector<store::Database*> databases,
               const Clock& clock);

  // Runs until cancelled.
  asio::awaitable<void> run();

  // Reports a request of a local client. Trimming waits until clients are idle.
  void note_client_request() { last_request_at_ = clock_.mono(); }

  // Number of scopes dropped since the start, by reason.
  using Dropped = std::map<std::string_view, std::uint64_t>;
  [[nodiscard]] const Dropped& dropped() const { return dropped_; }

 private:
  void pass();
  // Drops scopes that are not needed any more; with `one_object` only among those that hold one
  // object.
  void drop_unneeded_scopes(bool one_object);
  [[nodiscard]] sync::autonomy::ScopeUse use_of(const LocalScope& scope) const;
  // Returns some free pages to the file system. Returns whether there may be more to return.
  bool trim();

  const Settings settings_;
  Scopes& scopes_;
  StoredAnswers& answers_;
  const Uplink& uplink_;
  PodNeeds& needs_;
  std::vector<store::Database*> databases_;
  const Clock& clock_;
  MonoTime began_;  // start of the run, or when the machine last woke from suspend
  MonoTime last_request_at_;
  Dropped dropped_;
};

}  // namespace holdfast::agent
