#include "agent/lab/sim/scheduler.h"

#include <algorithm>

namespace holdfast::agent::lab::sim {

namespace schedule = sync::schedule;

namespace {

// A request and its answer within a data centre.
constexpr Duration round_trip = std::chrono::milliseconds(2);
constexpr Duration watch_delay = std::chrono::milliseconds(1);

std::string key_of(const schedule::PodKey& pod) { return pod.namespace_name + "/" + pod.name; }

schedule::SchedulerOptions options() {
  schedule::SchedulerOptions options;
  options.name = "default-scheduler";
  return options;
}

}  // namespace

SchedulerHost::SchedulerHost(Engine& engine, Server& server, const Workloads& workloads)
    : engine_(engine),
      server_(server),
      workloads_(workloads),
      scheduler_(options(), engine.now(), Random(engine.random().next())) {
  server_.on_change([this](const Change& change) {
    if (change.lease) return;
    engine_.after(watch_delay, [this, change] { observe(change); });
  });
}

void SchedulerHost::observe(const Change& change) {
  const bool deleted = change.type == ChangeType::deleted;
  if (change.node) {
    const std::string& name = change.node->metadata.name;
    if (deleted) return feed(sync::control::Removed<sync::Node>{"", name});
    return feed(sync::control::Changed<sync::Node>{*change.node});
  }
  update_budgets();
  const sync::ObjectMeta& metadata = change.pod->metadata;
  if (deleted) {
    return feed(sync::control::Removed<sync::Pod>{metadata.namespace_name, metadata.name});
  }
  feed(sync::control::Changed<sync::Pod>{*change.pod});
}

void SchedulerHost::update_budgets() {
  for (sync::PodDisruptionBudget& budget : workloads_.budgets()) {
    sync::PodDisruptionBudget& known = budgets_[budget.metadata.name];
    if (known == budget) continue;
    known = std::move(budget);
    feed(sync::control::Changed<sync::PodDisruptionBudget>{known});
  }
}

void SchedulerHost::feed(const Scheduler::Input& input) {
  auto step = scheduler_.step({engine_.now(), engine_.wall()}, input);
  (void)scheduler_.take_notes();
  for (const Effect& effect : step.effects) perform(effect);
  timer_.set(engine_, life_, std::max(step.deadline, engine_.now()),
             [this] { feed(sync::control::TimePassed{}); });
}

void SchedulerHost::perform(const Effect& effect) {
  engine_.after(round_trip, [this, effect] {
    const bool down = server_.is_silent() || server_.has(ApiFault::unavailable);
    const int status =
        down ? unavailable
             : std::visit([this](const auto& one) { return perform_one(one); }, effect.what);
    if (effect.id == 0) return;
    Outcome outcome;
    if (status == not_found) outcome.error = Errc::not_found;
    if (status == conflict) outcome.error = Errc::conflict;
    if (status >= 500) outcome.error = Errc::unavailable;
    if (outcome.error) outcome.text = "answered " + std::to_string(status);
    feed(Scheduler::Performed{effect, outcome});
  });
}

int SchedulerHost::perform_one(const schedule::BindPod& bind) {
  if (!server_.node(bind.node)) return not_found;
  bool bound = true;
  const int status = server_.edit_pod(
      key_of(bind.pod), bind.pod.uid, Actor::scheduler, [&bind, &bound](sync::Pod& pod) {
        bound = pod.spec.node_name.empty() && !pod.metadata.deletion_timestamp;
        if (!bound) return false;
        pod.spec.node_name = bind.node;
        return true;
      });
  return bound ? status : conflict;
}

int SchedulerHost::perform_one(const schedule::PatchPodStatus& patch) {
  return server_.edit_pod(
      key_of(patch.pod), patch.pod.uid, Actor::scheduler, [&patch](sync::Pod& pod) {
        if (patch.nominated_node) pod.status.nominated_node_name = *patch.nominated_node;
        if (!patch.condition) return true;
        auto& conditions = pod.status.conditions;
        std::erase_if(conditions,
                      [&patch](const auto& each) { return each.type == patch.condition->type; });
        conditions.push_back(*patch.condition);
        return true;
      });
}

int SchedulerHost::perform_one(const schedule::ClearNomination& clear) {
  return server_.edit_pod(key_of(clear.pod), "", Actor::scheduler, [](sync::Pod& pod) {
    pod.status.nominated_node_name.clear();
    return true;
  });
}

int SchedulerHost::perform_one(const schedule::DeletePod& deletion) {
  return server_.delete_pod(key_of(deletion.pod), deletion.pod.uid, Actor::scheduler);
}

}  // namespace holdfast::agent::lab::sim
