// Keeps the cache as small as what is used: drops scopes that nobody asks for any more, and gives
// free pages back to the file system, a few at a time and only while nobody waits.
//
// A pass is made once per interval, of scopes that hold one object once a minute, and only while
// the link is connected: what it drops can then be fetched again. See sync/autonomy/housekeeping.h
// for what is dropped.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/edge/options.h"
#include "agent/edge/pod_needs.h"
#include "agent/edge/scopes.h"
#include "agent/edge/uplink.h"
#include "store/sqlite.h"
#include "sync/autonomy/housekeeping.h"

namespace holdfast::agent {

class Housekeeping {
 public:
  // All are borrowed; `databases` are those that may be trimmed.
  Housekeeping(const EdgeOptions& options, Scopes& scopes, const Uplink& uplink, PodNeeds& needs,
               std::vector<store::Database*> databases, const Clock& clock);

  // Runs until cancelled.
  asio::awaitable<void> run();

  // A local client has asked for something.
  void heard_client() { heard_at_ = clock_.mono(); }

  // Scopes that were dropped since the start, by reason.
  using Dropped = std::map<std::string_view, std::uint64_t>;
  [[nodiscard]] const Dropped& dropped() const { return dropped_; }

 private:
  void pass();
  // Drops scopes that are not needed any more; `one_object`: only those that hold one.
  void drop_leftovers(bool one_object);
  [[nodiscard]] sync::ScopeUse use_of(const LocalScope& scope) const;
  // Whether there may be more to give back.
  bool trim();

  const EdgeOptions& options_;
  Scopes& scopes_;
  const Uplink& uplink_;
  PodNeeds& needs_;
  std::vector<store::Database*> databases_;
  const Clock& clock_;
  MonoTime began_;  // the run, or its last waking
  MonoTime heard_at_;
  Dropped dropped_;
};

}  // namespace holdfast::agent
