#include "test/cases/driver.h"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <utility>

#include "sync/lifecycle/direct_eviction.h"
#include "sync/lifecycle/labels.h"
#include "sync/lifecycle/pod_marking.h"
#include "sync/lifecycle/taints.h"
#include "sync/wire/codec.h"

namespace holdfast::cases {

namespace lifecycle = sync::lifecycle;
using lifecycle::Outcome;

Driver::Driver(const lifecycle::Options& options, const json::object& config, WallTime epoch,
               bool watched)
    : options_(options),
      epoch_(epoch),
      watched_(watched),
      server_(text(config, "podDeletion") == "graceful"),
      performer_(server_, options),
      calls_(options, epoch) {
  restart();
}

double Driver::seconds(MonoTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

void Driver::step(const json::value& step) {
  reading(step, [this, &step] { perform_step(object_of(step)); });
}

void Driver::perform_step(const json::object& step) {
  const json::value& at = needs(step, "at");
  const MonoTime to(duration_of(at));
  if (to < now_) throw Malformed(at, "lies before the time of the previous step");
  advance(to);
  result_.reset();
  if (const auto* call = find(step, "call")) {
    result_ = calls_.call(now_, object_of(*call));
    return;
  }
  if (find(step, "run") != nullptr) return run(step);
  change(step);
  if (watched_) deliver();
  fleet_->check_invariants();
  eviction_->check_invariants();
}

void Driver::change(const json::object& step) {
  for (const json::value& object : array_in(step, "set")) server_.set(object_of(object));
  for (const json::value& item : array_in(step, "update")) server_.update(item);
  for (const json::value& item : array_in(step, "delete")) server_.remove(object_of(item));
  for (const json::value& object : array_in(step, "replace")) server_.replace(object_of(object));
  if (const auto* fault = find(step, "fault")) server_.add_fault(object_of(*fault));
  if (flag(step, "restart")) restart();
  for (const auto& field : step) {
    static constexpr std::string_view known[] = {"at",      "set",   "update", "delete",
                                                 "replace", "fault", "tick",   "restart"};
    const std::string_view name(field.key().data(), field.key().size());
    if (std::find(std::begin(known), std::end(known), name) == std::end(known)) {
      throw Malformed(field.value(), "unknown step");
    }
  }
}

void Driver::run(const json::object& step) {
  deliver();
  const std::string what = needs_text(step, "run");
  const json::object& args = object_in(step, "args");
  if (what == "monitor-pass") {
    perform(fleet_->pass(now_, wall_));
  } else if (what == "noexecute-pass" || what == "eviction-pass") {
    perform(fleet_->drain(now_, wall_));
  } else if (what == "noschedule" || what == "labels") {
    run_node_worker(needs_text(args, "node"), what == "labels");
  } else if (what == "pod-worker") {
    run_pod_worker(args);
  } else {
    throw Malformed(needs(step, "run"), "unknown run " + what);
  }
}

// Replaces the rules by new ones without any state and reports all objects to them as new.
void Driver::restart() {
  fleet_ = std::make_unique<lifecycle::Fleet>(options_);
  eviction_ = std::make_unique<lifecycle::TaintEviction>(options_);
  pods_ = {};
  (void)server_.take_changes();
  for (const Change& change : server_.everything()) deliver(change);
}

void Driver::advance(MonoTime to) {
  // A few hundred retries fit between two steps of a case, but no end of them.
  constexpr int most = 100'000;
  for (int rounds = 0; watched_ && eviction_->next() <= to; ++rounds) {
    if (rounds == most) throw std::runtime_error("too many timers end before this step");
    set_now(std::max(now_, eviction_->next()));
    perform(eviction_->fire(now_, wall_));
    deliver();
  }
  set_now(to);
}

void Driver::set_now(MonoTime now) {
  now_ = now;
  wall_ = epoch_ + now.time_since_epoch();
  performer_.set_wall(wall_);
}

void Driver::deliver() {
  for (auto changes = server_.take_changes(); !changes.empty(); changes = server_.take_changes()) {
    for (const Change& change : changes) deliver(change);
  }
}

void Driver::deliver(const Change& change) {
  if (change.kind == "Node") deliver_node(change);
  if (change.kind == "Pod") deliver_pod(change);
  if (change.kind == "Lease") deliver_lease(change);
}

void Driver::deliver_node(const Change& change) {
  if (!change.after) {
    fleet_->remove_node(change.name);
    eviction_->remove_node(change.name);
    return;
  }
  const auto node = sync::wire::decode<sync::Node>(*change.after);
  if (!node) return;
  const lifecycle::NodeFacts facts = lifecycle::facts_of(*node, options_);
  if (watched_) perform(eviction_->set_node(now_, wall_, facts, pods_.on_node(facts.name)));
  fleet_->set_node(now_, wall_, facts);
}

void Driver::deliver_pod(const Change& change) {
  const auto object = sync::wire::decode<sync::Pod>(change.after ? *change.after : *change.before);
  if (!object) return;
  const lifecycle::PodFacts facts = lifecycle::facts_of(*object, options_);
  if (!change.after) {
    const auto before = pods_.remove(facts.key());
    if (watched_ && before) perform(eviction_->remove_pod(*before));
    return;
  }
  const auto before = pods_.set(facts);
  if (!watched_) return;
  perform(eviction_->set_pod(now_, wall_, before ? &*before : nullptr, facts));
}

void Driver::deliver_lease(const Change& change) {
  if (!change.after) {
    fleet_->remove_lease(change.name);
    return;
  }
  const auto lease = sync::wire::decode<sync::Lease>(*change.after);
  if (!lease || !lease->spec.renew_time) return;
  fleet_->set_lease(now_, change.name, *lease->spec.renew_time);
}

void Driver::run_node_worker(const std::string& node, bool labels) {
  const json::object* object = server_.find_object("Node", "", node);
  if (object == nullptr) return;
  const auto decoded = sync::wire::decode<sync::Node>(*object);
  if (!decoded) return;
  if (labels) {
    const sync::StringMap missing = lifecycle::labels_to_set(decoded->metadata.labels);
    if (!missing.empty()) performer_.perform(lifecycle::PatchLabels{node, missing});
    return;
  }
  const lifecycle::NodeFacts facts = lifecycle::facts_of(*decoded, options_);
  for (const auto& patch : lifecycle::reconcile_no_schedule(wall_, facts, options_)) {
    perform_one(patch);
  }
}

void Driver::run_pod_worker(const json::object& args) {
  const std::string key = text(args, "namespace", "default") + "/" + needs_text(args, "pod");
  const lifecycle::PodFacts* pod = pods_.find(key);
  if (pod == nullptr || pod->node.empty()) return;
  const std::string node = pod->node;
  const auto marks = lifecycle::pods_to_mark({pod}, wall_);
  const lifecycle::PodAction action = fleet_->pod_assigned(now_, node);
  if (action.evict) evict_pods(node, {key});
  if (!action.mark || marks.empty()) return;
  if (!mark_pod(marks.front()).ok()) fleet_->pods_left_unmarked(node);
}

// Intents that follow from an outcome are performed after those that are already queued.
void Driver::perform(const lifecycle::Intents& intents) {
  intents_.insert(intents_.end(), intents.begin(), intents.end());
  while (!intents_.empty()) {
    const lifecycle::Intent intent = std::move(intents_.front());
    intents_.pop_front();
    std::visit([this](const auto& one) { perform_one(one); }, intent);
  }
}

void Driver::perform(const lifecycle::Effects& effects) {
  std::deque<lifecycle::Effect> queue(effects.begin(), effects.end());
  while (!queue.empty()) {
    const lifecycle::Effect effect = std::move(queue.front());
    queue.pop_front();
    const Outcome outcome = performer_.perform(effect);
    for (auto& more : eviction_->settle(now_, effect, outcome)) queue.push_back(more);
  }
}

void Driver::perform_one(const lifecycle::UpdateNodeStatus& update) {
  for (auto& more : fleet_->settle(now_, wall_, update, performer_.perform(update))) {
    intents_.push_back(std::move(more));
  }
}

void Driver::perform_one(const lifecycle::PatchTaints& patch) {
  fleet_->settle(now_, patch, performer_.perform(patch));
}

void Driver::perform_one(const lifecycle::RecordEvent& event) { performer_.perform(event); }

void Driver::perform_one(const lifecycle::MarkPods& marking) {
  if (!mark_pods(marking.node).ok()) fleet_->pods_left_unmarked(marking.node);
}

void Driver::perform_one(const lifecycle::EvictPods& eviction) {
  std::vector<std::string> keys;
  for (const auto* pod : pods_.on_node(eviction.node)) keys.push_back(pod->key());
  fleet_->settle(now_, eviction, evict_pods(eviction.node, std::move(keys)));
}

Outcome Driver::mark_pods(const std::string& node) {
  const auto lookup = server_.ask({"get", "pods-index", "", "", node});
  if (lookup) return {lookup, {}};
  Outcome all;
  for (const auto& marking : lifecycle::pods_to_mark(pods_.on_node(node), wall_)) {
    const Outcome one = mark_pod(marking);
    if (!one.ok()) all = one;
  }
  return all;
}

// Also succeeds if the pod no longer exists.
Outcome Driver::mark_pod(const lifecycle::MarkPodNotReady& marking) {
  const Outcome outcome = performer_.perform(marking);
  for (const auto& event : lifecycle::after_marking(marking, outcome)) performer_.perform(event);
  return lifecycle::marking_failed(outcome) ? outcome : Outcome{};
}

Outcome Driver::evict_pods(const std::string& node, std::vector<std::string> pods) {
  std::vector<lifecycle::PodFacts> facts;
  std::set<std::string> exempt;
  for (const std::string& key : pods) {
    facts.push_back(*pods_.find(key));
    if (of_daemon_set(facts.back())) exempt.insert(key);
  }
  lifecycle::NodeFacts about;
  about.name = node;
  if (const auto* found = fleet_->node(node)) about = *found;
  lifecycle::DirectEviction eviction(about, std::move(facts), std::move(exempt));
  while (const auto effect = eviction.next()) {
    const Outcome outcome = performer_.perform(*effect);
    if (!std::holds_alternative<lifecycle::RecordEvent>(*effect)) eviction.settle(outcome);
  }
  return eviction.failed() ? Outcome{Errc::unavailable, {}} : Outcome{};
}

bool Driver::of_daemon_set(const lifecycle::PodFacts& pod) const {
  for (const Change& change : server_.everything()) {
    if (change.kind != "DaemonSet") continue;
    const auto set = sync::wire::decode<sync::DaemonSet>(*change.after);
    if (set && lifecycle::selects(*set, pod)) return true;
  }
  return false;
}

}  // namespace holdfast::cases
