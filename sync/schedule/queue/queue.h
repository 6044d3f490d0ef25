// The scheduling queue. Pods wait to be tried at once (active), after a pause (back-off), or until
// an event may help them (unschedulable, "the pool"). Pods that are being scheduled are in flight;
// events that happen meanwhile are kept for them.
//
// The queue has no clock: the owner calls tick() at deadline(). Pods are identified by uid. An
// event costs O(pods in the pool), all else O(log n). Not thread-safe.

#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sync/schedule/fit_status.h"
#include "sync/schedule/queue/hints.h"

namespace holdfast::sync::schedule {

struct QueueOptions {
  Duration backoff_initial = std::chrono::seconds(1);
  Duration backoff_max = std::chrono::seconds(10);   // 0: no back-off
  Duration pool_stay_max = std::chrono::minutes(5);  // then a pod is tried without an event
};

// How long a pod is held back after `attempts` attempts: doubled with each, up to backoff_max.
[[nodiscard]] Duration backoff(int attempts, const QueueOptions& options);

// Whether the left pod is popped first: by priority, then by the time at which it was queued.
[[nodiscard]] bool pops_before(const PodView& left, MonoTime left_queued, const PodView& right,
                               MonoTime right_queued);

enum class Place : std::uint8_t { active, backoff, unschedulable, in_flight };

// "active", "backoff", "unschedulable", "inFlight".
[[nodiscard]] std::string_view to_string(Place place);

using PluginNames = std::set<std::string, std::less<>>;

class Queue {
 public:
  // Whether a pod may become active. The queue checks the pod's scheduling gates itself.
  using Gate = std::function<FitStatus(const PodView&)>;

  // Borrows `hints`. `gate` may be empty.
  Queue(const Hints& hints, Gate gate, const QueueOptions& options, MonoTime now);

  struct Popped {
    PodRef pod;
    int attempts;           // including this one
    MonoTime first_active;  // when it became active for the first time
  };
  // Takes the next active pod, which is then in flight; nullopt if none is active.
  [[nodiscard]] std::optional<Popped> pop();

  // Adds a pod without a node, or updates it if it is known already.
  void add(MonoTime now, const PodRef& pod);
  // The pod changed; `events` are those of waiting_pod_changed().
  void update(MonoTime now, const PodRef& pod, const std::vector<Event>& events);
  // The pod was deleted or has a node.
  void remove(const std::string& uid);

  // An attempt failed: returns the pod, as it is now, to the queue with the plugins that rejected
  // it. Without plugins, an error was the reason, and the pod is tried again after its back-off.
  // Errors: conflict (the pod is not in flight).
  [[nodiscard]] Status requeue(MonoTime now, const PodRef& pod, PluginNames unschedulable,
                               PluginNames pending);
  // An attempt has ended, and the pod does not return to the queue.
  void done(const std::string& uid);

  // An event occurred: moves the pods of the pool that it may help.
  void happened(MonoTime now, const Event& event);
  // Moves the pod to the active queue, unless a gate is shut. A pod in flight will go to back-off
  // instead of the pool.
  void activate(MonoTime now, const std::string& uid);

  // Lets the pod be tried again after its back-off, without an event. Does nothing for a pod that
  // is active or backing off already.
  void retry(MonoTime now, const std::string& uid);

  // Moves the pods that are due. To be called at deadline().
  void tick(MonoTime now);
  [[nodiscard]] MonoTime deadline() const;

  // nullopt if the pod is unknown.
  [[nodiscard]] std::optional<Place> place(const std::string& uid) const;
  // The uids of all pods, by place.
  [[nodiscard]] std::vector<std::string> pods(Place place) const;
  [[nodiscard]] std::size_t active() const { return active_.size(); }
  [[nodiscard]] std::size_t backing_off() const { return backoff_.size(); }
  [[nodiscard]] std::size_t unschedulable() const { return pool_.size(); }  // including gated pods
  // O(pods in the pool).
  [[nodiscard]] std::size_t gated() const;
  // By plugin: the number of pods in the pool that it rejected. O(pods in the pool).
  [[nodiscard]] std::map<std::string, std::size_t> rejected_by() const;

  // By place ("active", "backoff", "unschedulable") and event: the number of pods that entered.
  using Incoming = std::map<std::pair<std::string_view, std::string_view>, std::uint64_t>;
  [[nodiscard]] const Incoming& incoming() const { return incoming_; }

  // For tests: every pod is in exactly the place that its entry names.
  void check_invariants() const;

 private:
  struct Entry {
    PodRef pod;
    Place place = Place::unschedulable;
    MonoTime queued;
    std::uint64_t sequence = 0;  // orders pods that are otherwise equal
    int attempts = 0;
    std::optional<MonoTime> first_active;
    MonoTime backoff_end;
    bool gated = false;
    PluginNames unschedulable;
    PluginNames pending;
    // In flight: the marker in happened_ where the attempt began.
    std::list<std::optional<Event>>::iterator since;
  };
  struct ByUrgency {
    bool operator()(const Entry* left, const Entry* right) const;
  };
  struct ByBackoff {
    bool operator()(const Entry* left, const Entry* right) const;
  };
  enum class Retry : std::uint8_t { no, after_backoff, now };

  Entry* find(const std::string& uid);
  void leave(Entry& entry);
  // `event` is the label of the event that moves the entry, of static storage duration.
  void enter(MonoTime now, Entry& entry, Retry retry, std::string_view event);
  void to_active(MonoTime now, Entry& entry, std::string_view event);
  void to_pool(Entry& entry, std::string_view event);
  [[nodiscard]] Retry retry_for(const Entry& entry, const Event& event) const;
  [[nodiscard]] Retry retry_since(const Entry& entry) const;
  void end_flight(Entry& entry);
  [[nodiscard]] FitStatus gate(const PodView& pod) const;

  const Hints& hints_;
  Gate gate_;
  QueueOptions options_;
  std::unordered_map<std::string, std::unique_ptr<Entry>> entries_;
  std::set<Entry*, ByUrgency> active_;
  std::set<Entry*, ByBackoff> backoff_;
  std::set<Entry*, ByUrgency> pool_;
  // Events since the oldest pod in flight was popped; nullopt marks where a pod was popped.
  std::list<std::optional<Event>> happened_;
  std::size_t in_flight_ = 0;
  std::uint64_t sequence_ = 0;
  Incoming incoming_;
  MonoTime next_flush_;
};

}  // namespace holdfast::sync::schedule
