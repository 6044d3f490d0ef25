// A rate-limited queue of names: the nodes of one zone that are to be tainted or evicted. Upstream:
// RateLimitedTimedQueue.
//
// It consists of a queue by due time and a guard set. A name stays in the guard set after its turn,
// so that it is not queued again before it is removed. Names with the same due time are served in
// the order in which they were added.

#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "platform/time.h"
#include "sync/pacing/due_queue.h"
#include "platform/token_bucket.h"

namespace holdfast::sync::pacing {

class RateQueue {
 public:
  // Starts with a full bucket.
  RateQueue(MonoTime now, double rate);

  // Queues `name`, due now. Returns false and changes nothing if the guard set contains it.
  bool add(MonoTime now, const std::string& name);

  // Queues `name` even if it had its turn already. A name that waits or is being handled keeps its
  // place.
  void add_again(MonoTime now, const std::string& name);

  // Removes `name`, even while it is being handled. Returns whether the guard set contained it.
  bool remove(const std::string& name);

  // Removes `name` from the guard set only, as 1.19 and 1.20 did before adding it again.
  void forget(const std::string& name);

  void clear();

  // Takes a token and the next name to handle; the caller must call done() or again() for it. As
  // upstream, the token is lost even if the first name is not due yet.
  [[nodiscard]] std::optional<std::string> take(MonoTime now);
  // The name was handled. It stays in the guard set.
  void done(const std::string& name);
  // Queues the name once more, due after `wait`, unless it was removed while it was handled.
  void again(MonoTime now, const std::string& name, Duration wait);

  // Changes the rate; zero or less stops the queue. The new bucket starts full if the old one had a
  // token at `now`, and empty otherwise.
  void set_rate(MonoTime now, double rate);
  [[nodiscard]] const TokenBucket& limiter() const { return bucket_; }

  // When take() may return a name; MonoTime::max() if the queue is empty or stopped.
  [[nodiscard]] MonoTime next() const;

  // Waiting names, ordered by due time; guarded names, unordered.
  [[nodiscard]] std::vector<std::string> waiting() const { return queue_.keys(); }
  [[nodiscard]] const std::unordered_set<std::string>& guarded() const { return guard_; }

 private:
  struct Nothing {};

  TokenBucket bucket_;
  DueQueue<Nothing> queue_;
  std::unordered_set<std::string> guard_;
  std::unordered_set<std::string> handling_;
};

}  // namespace holdfast::sync::pacing
