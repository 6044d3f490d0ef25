#include "agent/lab/apiserver/registry_scheduler.h"

#include <boost/json.hpp>

#include "agent/lab/rules/decode.h"
#include "agent/lab/rules/matching.h"
#include "platform/log.h"
#include "platform/text.h"
#include "sync/events/event.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/wire/codec.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {

namespace json = boost::json;
namespace schedule = sync::schedule;

namespace {

constexpr std::string_view scheduler = "default-scheduler";
constexpr sync::wire::DecodeOptions lean{.keep_untouched = false, .keep_managed_fields = false};

const sync::printing::Resource& pods() { return sync::printing::known_kind("", "Pod"); }

std::string_view kind_of(const Stored& stored) {
  return sync::wire::dig_text(stored.object, {"kind"});
}

Target target_of(const schedule::PodKey& pod) { return {pod.namespace_name, pod.name}; }

sync::Node with_room(sync::Node node) {
  if (node.status.allocatable.empty()) {
    node.status.allocatable = {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}};
  }
  return node;
}

schedule::Settled settled(const sync::wire::ApiStatus& status) {
  const bool gone = status.code == 404 || status.code == 409;
  return {gone ? schedule::Settled::Kind::gone : schedule::Settled::Kind::failed, status.message};
}

template <class T>
std::optional<T> decoded(const Stored& stored) {
  auto object = sync::wire::decode<T>(stored.object, lean);
  if (object) return *std::move(object);
  log_warn("scheduler", {{"key", stored.key}, {"error", object.error()}});
  return std::nullopt;
}

sync::wire::ApiStatus another_pod(const schedule::PodKey& pod) {
  return sync::wire::status::conflict({"", "pods"}, pod.name,
                                      "the pod with uid " + pod.uid + " is gone");
}

}  // namespace

RegistryScheduler::RegistryScheduler(Editor& editor, const Clock& clock, Random random)
    : editor_(editor),
      clock_(clock),
      random_(random),
      cluster_state_({.scheduler = std::string(scheduler)}, clock.mono()),
      finder_(schedule::plugins({.fit = {}, .volumes = false})) {
  for (const auto& [key, stored] : editor.registry().all()) read(*stored);
}

void RegistryScheduler::note(const Change& change) {
  const std::string_view kind = kind_of(*change.seen);
  if (kind == "Pod" || kind == "Node" || kind == "Namespace" || kind == "PodDisruptionBudget") {
    pending_changes_.push_back(change);
  }
}

void RegistryScheduler::read(const Stored& stored) {
  const std::string_view kind = kind_of(stored);
  if (kind == "Pod") {
    if (auto pod = decoded<sync::Pod>(stored)) cluster_state_.set(clock_.mono(), *std::move(pod));
  } else if (kind == "Node") {
    auto node = decoded<sync::Node>(stored);
    if (node) cluster_state_.set(clock_.mono(), with_room(*std::move(node)));
  } else if (kind == "PodDisruptionBudget") {
    if (const auto budget = decoded<sync::PodDisruptionBudget>(stored)) cluster_state_.set(*budget);
  } else if (kind == "Namespace") {
    const auto space = decoded<sync::Namespace>(stored);
    if (space) cluster_state_.cluster().set_namespace(space->metadata.name, space->metadata.labels);
  }
}

void RegistryScheduler::forget(const Stored& stored) {
  const std::string_view kind = kind_of(stored);
  const std::string space(sync::wire::namespace_of(stored.object));
  const std::string name(sync::wire::name_of(stored.object));
  if (kind == "Pod") cluster_state_.remove_pod(clock_.mono(), space, name);
  if (kind == "Node") cluster_state_.remove_node(clock_.mono(), name);
  if (kind == "PodDisruptionBudget") cluster_state_.remove_budget(space, name);
  if (kind == "Namespace") cluster_state_.cluster().remove_namespace(name);
}

void RegistryScheduler::apply_changes() {
  while (!pending_changes_.empty()) {
    const Change change = std::move(pending_changes_.front());
    pending_changes_.pop_front();
    if (change.now) {
      read(*change.now);
    } else {
      forget(*change.seen);
    }
  }
}

void RegistryScheduler::pass() {
  apply_changes();
  cluster_state_.tick(clock_.mono());
  while (const auto popped = cluster_state_.queue().pop()) {
    attempt(*popped);
    apply_changes();
  }
}

void RegistryScheduler::attempt(const schedule::Queue::Popped& popped) {
  const schedule::PodRef& pod = popped.pod;
  if (pod->pod->metadata.deletion_timestamp) return cluster_state_.queue().done(pod->uid());
  schedule::Attempt made =
      finder_.find(cluster_state_.cluster(), cluster_state_.nominator(), *pod, random_);
  if (made.node == nullptr) return give_up(pod, std::move(made));
  const std::string node = made.node->name();
  const auto bound = bind(*pod, node);
  if (!bound) {
    made.node = nullptr;
    made.fit_status = schedule::reject(schedule::Code::error, bound.error().message);
    return give_up(pod, std::move(made));
  }
  record_event(schedule::bound_event(*pod, node));  // the bound pod arrives as a change
}

void RegistryScheduler::give_up(const schedule::PodRef& pod, schedule::Attempt attempt) {
  schedule::FailedAttempt failed{pod, std::move(attempt.fit_status), std::move(attempt.diagnosis),
                                 std::string()};
  if (failed.diagnosis) {
    schedule::Preemption preemption(pod, {});
    preemption.start({cluster_state_.cluster(), cluster_state_.nominator(),
                      cluster_state_.budgets(), finder_.plugins()},
                     failed.diagnosis->fit_statuses, clock_.wall(), random_);
    const schedule::PreemptionOutcome& outcome = *preemption.outcome();
    failed.diagnosis->postfilter = outcome.fit_status.message();
    failed.nomination = outcome.nomination;
    if (outcome.chosen) prepare_candidate(pod, *outcome.chosen);
  }
  const schedule::PodRef live = cluster_state_.live(pod->uid());
  auto plan = schedule::plan_failure(failed, live, cluster_state_.nominator(), clock_.wall());
  if (plan.requeue) {
    const Status back = cluster_state_.queue().requeue(
        clock_.mono(), plan.fresh, std::move(plan.unschedulable), std::move(plan.pending));
    if (!back) log_debug("scheduler", {{"error", back.error()}});
  } else {
    cluster_state_.queue().done(pod->uid());
  }
  if (!plan.patch) return;  // the pod's status says so already
  record_event(plan.event);
  (void)patch(*plan.patch);
}

// Deletes the victims of a preemption. Their end arrives as a change.
void RegistryScheduler::prepare_candidate(const schedule::PodRef& pod,
                                          const schedule::Candidate& chosen) {
  auto nominated = cluster_state_.nominator().below(chosen.node, *pod);
  schedule::Preparation machine(pod, chosen, std::move(nominated), {}, {.async = false});
  std::deque<schedule::Preparation::Step> open;
  const auto add = [&open](schedule::Preparation::Steps steps) {
    for (auto& step : steps) open.push_back(std::move(step));
  };
  add(machine.start(clock_.wall()));
  while (!open.empty()) {
    const schedule::Preparation::Step step = std::move(open.front());
    open.pop_front();
    if (step.id != 0) {
      add(machine.settle(step.id, perform(step.action), clock_.wall()));
    } else if (const auto* event = std::get_if<schedule::RecordEvent>(&step.action)) {
      record_event(*event);
    }
  }
}

schedule::Settled RegistryScheduler::perform(const schedule::Action& action) {
  if (const auto* wanted = std::get_if<schedule::PatchPodStatus>(&action)) return patch(*wanted);
  if (const auto* clear = std::get_if<schedule::ClearNomination>(&action)) {
    return patch({clear->pod, std::nullopt, {}, std::string()});
  }
  const auto* deletion = std::get_if<schedule::DeletePod>(&action);
  if (deletion == nullptr) return {};
  DeleteOptions options;
  options.uid = deletion->pod.uid;
  const auto removed = editor_.remove(pods(), target_of(deletion->pod), options);
  return removed ? schedule::Settled{} : settled(removed.error());
}

// Binds the pod as the subresource binding does.
Answer<StoredPtr> RegistryScheduler::bind(const schedule::PodView& pod, std::string_view node) {
  const StoredPtr old = editor_.registry().find(pods(), pod.namespace_name(), pod.name());
  if (!old || sync::wire::uid_of(old->object) != pod.uid()) {
    return refuse(another_pod(schedule::key_of(pod)));
  }
  json::object made = old->object;
  sync::wire::make_object(made, {"spec"})["nodeName"] = node;
  json::object& status = sync::wire::make_object(made, {"status"});
  status.erase("nominatedNodeName");
  const json::object scheduled = {{"type", "PodScheduled"}, {"status", "True"}};
  set_condition(status, scheduled, format_rfc3339(editor_.now()));
  return editor_.replace(pods(), canonical(pods(), std::move(made)), old);
}

schedule::Settled RegistryScheduler::patch(const schedule::PatchPodStatus& patch) {
  const std::string now = format_rfc3339(editor_.now());
  const auto change = [&patch, &now](const json::object& old) -> Answer<json::object> {
    if (sync::wire::uid_of(old) != patch.pod.uid) return refuse(another_pod(patch.pod));
    json::object made = old;
    json::object& status = sync::wire::make_object(made, {"status"});
    if (patch.condition) set_condition(status, sync::wire::encode_part(*patch.condition), now);
    if (patch.nominated_node && patch.nominated_node->empty()) {
      status.erase("nominatedNodeName");
    } else if (patch.nominated_node) {
      status["nominatedNodeName"] = *patch.nominated_node;
    }
    return made;
  };
  const auto written = editor_.update(pods(), target_of(patch.pod), Part::status, change);
  return written ? schedule::Settled{} : settled(written.error());
}

void RegistryScheduler::record_event(const schedule::RecordEvent& event) {
  const std::string time = format_rfc3339(editor_.now());
  json::object made = sync::events::to_json(sync::events::CoreEvent{
      .name = sync::events::event_name(event.regarding.name, random_.next()),
      .namespace_name = event.regarding.namespace_name,
      .about = {.kind = "Pod",
                .namespace_name = event.regarding.namespace_name,
                .name = event.regarding.name,
                .uid = event.regarding.uid},
      .warning = event.type == "Warning",
      .reason = event.reason,
      .message = event.note,
      .component = std::string(scheduler),
      .first = time,
      .last = time});
  made["action"] = event.action;
  const sync::printing::Resource& events = sync::printing::known_kind("", "Event");
  const auto recorded =
      editor_.create(events, canonical(events, std::move(made)), event.regarding.namespace_name);
  if (!recorded) log_debug("scheduler event", {{"why", recorded.error().message}});
}

}  // namespace holdfast::agent::lab
