// Pods that wait to be scheduled: ready (active), soon (back-off) or until something happens
// (unschedulable); and those being scheduled (in flight), with what happens meanwhile.
//
// A machine: time comes in, deadline() says when it wants to be ticked. Pods are known by uid. An
// event costs O(pods in the unschedulable pool), all else O(log n). One thread.

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
  Duration backoff_max = std::chrono::seconds(10);  // 0: none
  Duration pool_stay_max = std::chrono::minutes(5);
};

// How long a pod is held back after so many attempts: doubled each time, up to the longest.
[[nodiscard]] Duration backoff(int attempts, const QueueOptions& options);

// Whether the left one is popped first: by priority, then by the time it was queued.
[[nodiscard]] bool pops_before(const PodView& left, MonoTime left_queued, const PodView& right,
                               MonoTime right_queued);

enum class Place : std::uint8_t { active, backoff, unschedulable, in_flight };

// "active", "backoff", "unschedulable", "inFlight".
[[nodiscard]] std::string_view to_string(Place place);

using PluginNames = std::set<std::string, std::less<>>;

class Queue {
 public:
  // Says whether a pod may become active; scheduling gates are looked at in any case.
  using Gate = std::function<FitStatus(const PodView&)>;

  // Borrows `hints`. `gate` may be empty.
  Queue(const Hints& hints, Gate gate, const QueueOptions& options, MonoTime now);

  struct Popped {
    PodRef pod;
    int attempts;           // with this one
    MonoTime first_active;  // when it became active for the first time
  };
  // The next pod, now in flight; nothing when none is active.
  [[nodiscard]] std::optional<Popped> pop();

  // A pod without a node appeared. One that is known already is updated.
  void add(MonoTime now, const PodRef& pod);
  // It changed; `events` are what of it might help: waiting_pod_changed().
  void update(MonoTime now, const PodRef& pod, const std::vector<Event>& events);
  // It is no more, or has a node.
  void remove(const std::string& uid);

  // An attempt failed: the pod goes back, as it is now. No plugins: it failed for a reason of ours.
  // Errors: conflict (it is not in flight, but waits already).
  [[nodiscard]] Status requeue(MonoTime now, const PodRef& pod, PluginNames unschedulable,
                               PluginNames pending);
  // An attempt is over, and the pod does not come back.
  void done(const std::string& uid);

  void happened(MonoTime now, const Event& event);
  // To the active queue at once; when in flight, back-off instead of the pool at its end.
  void activate(MonoTime now, const std::string& uid);

  // Moves what is due; at the latest at deadline().
  void tick(MonoTime now);
  [[nodiscard]] MonoTime deadline() const;

  // Nothing for a pod that is not here.
  [[nodiscard]] std::optional<Place> place(const std::string& uid) const;
  // The uids of all pods, by place.
  [[nodiscard]] std::vector<std::string> pods(Place place) const;
  [[nodiscard]] std::size_t active() const { return active_.size(); }
  [[nodiscard]] std::size_t backing_off() const { return backoff_.size(); }
  [[nodiscard]] std::size_t unschedulable() const { return pool_.size(); }  // with the gated
  // O(pods in the pool).
  [[nodiscard]] std::size_t gated() const;
  // How many pods of the pool each plugin has rejected. O(pods in the pool).
  [[nodiscard]] std::map<std::string, std::size_t> rejected_by() const;

  // How many pods came into "active", "backoff" or "unschedulable", and by which event.
  using Incoming = std::map<std::pair<std::string_view, std::string_view>, std::uint64_t>;
  [[nodiscard]] const Incoming& incoming() const { return incoming_; }

 private:
  struct Entry {
    PodRef pod;
    Place place = Place::unschedulable;
    MonoTime queued;
    std::uint64_t sequence = 0;  // tells equals apart
    int attempts = 0;
    std::optional<MonoTime> first_active;
    MonoTime backoff_end;
    bool gated = false;
    PluginNames unschedulable;
    PluginNames pending;
    // In flight: where in happened_ it began.
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
  // `event` is the label of what moves it; text that outlives everything.
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
  // Events while pods are in flight; an empty one marks where a pod was popped.
  std::list<std::optional<Event>> happened_;
  std::size_t in_flight_ = 0;
  std::uint64_t sequence_ = 0;
  Incoming incoming_;
  MonoTime next_flush_;
};

}  // namespace holdfast::sync::schedule
