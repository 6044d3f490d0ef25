#include "sync/schedule/queue/queue.h"

#include <algorithm>

#include "platform/check.h"
#include "platform/text.h"
#include "sync/schedule/names.h"

namespace holdfast::sync::schedule {
namespace {

// How often the queue looks for pods that have been in the pool for too long; as upstream.
constexpr Duration flush_period = std::chrono::seconds(30);

bool has_gates(const PodView& pod) { return !pod.pod->spec.scheduling_gates.empty(); }

FitStatus check_gates(const PodView& pod) {
  const auto& gates = pod.pod->spec.scheduling_gates;
  if (gates.empty()) return {};
  std::vector<std::string> names;
  names.reserve(gates.size());
  for (const PodSchedulingGate& each : gates) names.push_back(each.name);
  return reject(Code::unresolvable, "waiting for scheduling gates: [" + join(names, " ") + "]",
                plugin_gates);
}

}  // namespace

Duration backoff(int attempts, const QueueOptions& options) {
  if (attempts <= 0) return Duration::zero();
  Duration duration = options.backoff_initial;
  for (int i = 1; i < attempts; ++i) {
    if (duration > options.backoff_max - duration) return options.backoff_max;
    duration += duration;
  }
  return std::min(duration, options.backoff_max);
}

bool pops_before(const PodView& left, MonoTime left_queued, const PodView& right,
                 MonoTime right_queued) {
  if (left.priority != right.priority) return left.priority > right.priority;
  return left_queued < right_queued;
}

std::string_view to_string(Place place) {
  switch (place) {
    case Place::active:
      return "active";
    case Place::backoff:
      return "backoff";
    case Place::unschedulable:
      return "unschedulable";
    case Place::in_flight:
      return "inFlight";
  }
  UNREACHABLE();
}

bool Queue::ByUrgency::operator()(const Entry* left, const Entry* right) const {
  if (pops_before(*left->pod, left->queued, *right->pod, right->queued)) return true;
  if (pops_before(*right->pod, right->queued, *left->pod, left->queued)) return false;
  return left->sequence < right->sequence;
}

bool Queue::ByBackoff::operator()(const Entry* left, const Entry* right) const {
  if (left->backoff_end != right->backoff_end) return left->backoff_end < right->backoff_end;
  return left->sequence < right->sequence;
}

Queue::Queue(const Hints& hints, Gate gate, const QueueOptions& options, MonoTime now)
    : hints_(hints), gate_(std::move(gate)), options_(options), next_flush_(now + flush_period) {}

Queue::Entry* Queue::find(const std::string& uid) {
  const auto at = entries_.find(uid);
  return at == entries_.end() ? nullptr : at->second.get();
}

FitStatus Queue::gate(const PodView& pod) const {
  FitStatus fit_status = check_gates(pod);
  if (fit_status.ok() && gate_) fit_status = gate_(pod);
  return fit_status;
}

void Queue::leave(Entry& entry) {
  switch (entry.place) {
    case Place::active:
      active_.erase(&entry);
      break;
    case Place::backoff:
      backoff_.erase(&entry);
      break;
    case Place::unschedulable:
      pool_.erase(&entry);
      break;
    case Place::in_flight:
      break;
  }
}

void Queue::to_pool(Entry& entry, std::string_view event) {
  entry.place = Place::unschedulable;
  ++incoming_[{"unschedulable", event}];
  pool_.insert(&entry);
}

void Queue::to_active(MonoTime now, Entry& entry, std::string_view event) {
  const FitStatus fit_status = gate(*entry.pod);
  entry.gated = !fit_status.ok();
  if (entry.gated) {
    if (!fit_status.plugin.empty()) entry.unschedulable.emplace(fit_status.plugin);
    return to_pool(entry, event);
  }
  if (!entry.first_active) entry.first_active = now;
  entry.place = Place::active;
  ++incoming_[{"active", event}];
  active_.insert(&entry);
}

// Puts an entry that is in no queue into the right one.
void Queue::enter(MonoTime now, Entry& entry, Retry retry, std::string_view event) {
  entry.backoff_end = entry.queued + backoff(entry.attempts, options_);
  if (retry == Retry::no) {
    to_pool(entry, event);
  } else if (retry == Retry::after_backoff && entry.backoff_end > now) {
    entry.place = Place::backoff;
    ++incoming_[{"backoff", event}];
    backoff_.insert(&entry);
  } else {
    to_active(now, entry, event);
  }
}

void Queue::add(MonoTime now, const PodRef& pod) {
  if (find(pod->uid()) != nullptr) return update(now, pod, {});
  auto entry = std::make_unique<Entry>();
  entry->pod = pod;
  entry->queued = now;
  entry->sequence = ++sequence_;
  Entry& added = *entry;
  entries_.emplace(pod->uid(), std::move(entry));
  to_active(now, added, label_add);
}

std::optional<Queue::Popped> Queue::pop() {
  if (active_.empty()) return std::nullopt;
  Entry& entry = **active_.begin();
  leave(entry);
  entry.place = Place::in_flight;
  ++entry.attempts;
  entry.unschedulable.clear();
  entry.pending.clear();
  entry.since = happened_.insert(happened_.end(), std::nullopt);
  ++in_flight_;
  return Popped{entry.pod, entry.attempts, *entry.first_active};
}

void Queue::end_flight(Entry& entry) {
  happened_.erase(entry.since);
  --in_flight_;
  // Events before the oldest remaining marker concern no pod in flight.
  while (!happened_.empty() && happened_.front()) happened_.pop_front();
}

void Queue::done(const std::string& uid) {
  Entry* entry = find(uid);
  if (entry == nullptr || entry->place != Place::in_flight) return;
  end_flight(*entry);
  entries_.erase(uid);
}

void Queue::remove(const std::string& uid) {
  Entry* entry = find(uid);
  if (entry == nullptr) return;
  if (entry->place == Place::in_flight) return done(uid);
  leave(*entry);
  entries_.erase(uid);
}

Queue::Retry Queue::retry_for(const Entry& entry, const Event& event) const {
  if (entry.unschedulable.empty() && entry.pending.empty()) return Retry::after_backoff;
  if (event.kind == EventKind::wildcard) return Retry::after_backoff;
  if (event.priority_max && entry.pod->priority > *event.priority_max) return Retry::no;
  const auto helps = [this, &entry, &event](const std::string& plugin) {
    return hints_.ask(plugin, *entry.pod, event) == Hint::queue;
  };
  if (std::any_of(entry.pending.begin(), entry.pending.end(), helps)) return Retry::now;
  const bool any = std::any_of(entry.unschedulable.begin(), entry.unschedulable.end(), helps);
  return any ? Retry::after_backoff : Retry::no;
}

// The strongest retry of all events since the pod was popped.
Queue::Retry Queue::retry_since(const Entry& entry) const {
  if (entry.unschedulable.empty() && entry.pending.empty()) return Retry::after_backoff;
  Retry strongest = Retry::no;
  for (auto at = std::next(entry.since); at != happened_.end(); ++at) {
    if (!*at) continue;
    const Event& event = **at;
    // Changes and activations of one waiting pod do not concern other pods in flight.
    const bool of_one = event.kind == EventKind::wildcard || event.kind >= EventKind::own_labels;
    if (!of_one || event.pod == nullptr || event.pod->uid() == entry.pod->uid())
      strongest = std::max(strongest, retry_for(entry, event));
  }
  return strongest;
}

Status Queue::requeue(MonoTime now, const PodRef& pod, PluginNames unschedulable,
                      PluginNames pending) {
  Entry* entry = find(pod->uid());
  if (entry == nullptr || entry->place != Place::in_flight) {
    if (entry == nullptr) return fail(Errc::conflict, "Pod " + pod->name() + " is not in flight");
    return fail(Errc::conflict, "Pod " + pod->name() + " is already present in the " +
                                    std::string(to_string(entry->place)) + " queue");
  }
  entry->pod = pod;
  entry->queued = now;
  entry->unschedulable = std::move(unschedulable);
  entry->pending = std::move(pending);
  const Retry retry = retry_since(*entry);
  end_flight(*entry);
  enter(now, *entry, retry, label_failure);
  return {};
}

void Queue::happened(MonoTime now, const Event& event) {
  if (!hints_.registered(event)) return;
  std::vector<std::pair<Entry*, Retry>> moving;
  for (Entry* entry : pool_) {
    if (has_gates(*entry->pod)) continue;  // Only a change of the pod removes its gates.
    const Retry retry = retry_for(*entry, event);
    if (retry != Retry::no) moving.emplace_back(entry, retry);
  }
  for (const auto& [entry, retry] : moving) {
    leave(*entry);
    enter(now, *entry, retry, event.label);
  }
  if (in_flight_ > 0) happened_.emplace_back(event);
}

void Queue::update(MonoTime now, const PodRef& pod, const std::vector<Event>& events) {
  Entry* entry = find(pod->uid());
  if (entry == nullptr) return add(now, pod);
  if (entry->place == Place::in_flight) {
    happened_.insert(happened_.end(), events.begin(), events.end());
    return;
  }
  const Place place = entry->place;
  leave(*entry);
  entry->pod = pod;
  const std::string_view label = events.empty() ? label_update : events.front().label;
  if (place == Place::active && gate(*pod).ok()) {
    active_.insert(entry);
    return;
  }
  if (place == Place::active) return to_active(now, *entry, label);
  if (place == Place::backoff) {
    backoff_.insert(entry);
    return;
  }
  Retry strongest = Retry::no;
  for (const Event& event : events) strongest = std::max(strongest, retry_for(*entry, event));
  if (strongest == Retry::no) {
    pool_.insert(entry);
    return;
  }
  enter(now, *entry, strongest, label);
}

void Queue::activate(MonoTime now, const std::string& uid) {
  Entry* entry = find(uid);
  if (entry == nullptr || entry->place == Place::active) return;
  if (entry->place == Place::in_flight) {
    Event event{EventKind::wildcard, label_activate, nullptr, nullptr, nullptr, entry->pod};
    happened_.emplace_back(std::move(event));
    return;
  }
  leave(*entry);
  to_active(now, *entry, label_activate);
}

void Queue::retry(MonoTime now, const std::string& uid) {
  Entry* entry = find(uid);
  if (entry == nullptr) return;
  if (entry->place == Place::in_flight) return activate(now, uid);
  if (entry->place != Place::unschedulable) return;
  leave(*entry);
  enter(now, *entry, Retry::after_backoff, label_failure);
}

void Queue::tick(MonoTime now) {
  while (!backoff_.empty() && (*backoff_.begin())->backoff_end <= now) {
    Entry& entry = **backoff_.begin();
    leave(entry);
    to_active(now, entry, label_backoff);
  }
  if (now < next_flush_) return;
  while (next_flush_ <= now) next_flush_ += flush_period;
  std::vector<Entry*> stale;
  for (Entry* entry : pool_) {
    if (has_gates(*entry->pod)) continue;
    if (now - entry->queued > options_.pool_stay_max) stale.push_back(entry);
  }
  for (Entry* entry : stale) {
    leave(*entry);
    enter(now, *entry, Retry::after_backoff, label_timeout);
  }
}

MonoTime Queue::deadline() const {
  MonoTime next = pool_.empty() ? MonoTime::max() : next_flush_;
  if (!backoff_.empty()) next = std::min(next, (*backoff_.begin())->backoff_end);
  return next;
}

std::optional<Place> Queue::place(const std::string& uid) const {
  const auto at = entries_.find(uid);
  if (at == entries_.end()) return std::nullopt;
  return at->second->place;
}

std::size_t Queue::gated() const {
  return static_cast<std::size_t>(
      std::count_if(pool_.begin(), pool_.end(), [](const Entry* entry) { return entry->gated; }));
}

std::map<std::string, std::size_t> Queue::rejected_by() const {
  std::map<std::string, std::size_t> counts;
  for (const Entry* entry : pool_) {
    for (const std::string& plugin : entry->unschedulable) ++counts[plugin];
  }
  return counts;
}

std::vector<std::string> Queue::pods(Place place) const {
  std::vector<std::string> uids;
  for (const auto& [uid, entry] : entries_) {
    if (entry->place == place) uids.push_back(uid);
  }
  return uids;
}

void Queue::check_invariants() const {
  std::size_t in_flight = 0;
  for (const auto& [uid, entry] : entries_) {
    CHECK(entry->pod->uid() == uid);
    CHECK(active_.contains(entry.get()) == (entry->place == Place::active));
    CHECK(backoff_.contains(entry.get()) == (entry->place == Place::backoff));
    CHECK(pool_.contains(entry.get()) == (entry->place == Place::unschedulable));
    if (entry->place == Place::in_flight) ++in_flight;
  }
  CHECK(in_flight == in_flight_);
  CHECK(entries_.size() == active_.size() + backoff_.size() + pool_.size() + in_flight_);
  CHECK(in_flight_ > 0 || happened_.empty());
}

}  // namespace holdfast::sync::schedule
