// Pods that have a node and wait for their volumes: the scheduler writes which volume a claim gets,
// or where one is to be made, and binds the pod when the claims are bound.

#include <string>
#include <utility>

#include "sync/schedule/names.h"
#include "sync/schedule/scheduler.h"

namespace holdfast::sync::schedule {

void Scheduler::begin_volumes(Binding binding, VolumePlan plan) {
  const std::string uid = binding.popped.pod->uid();
  assume(state_.cluster().storage(), plan);
  const std::size_t writing = plan.bind.size() + plan.select.size();
  for (const BindVolume& each : plan.bind) emit(each, OfVolumes{uid});
  for (const SelectNode& each : plan.select) emit(each, OfVolumes{uid});
  const MonoTime deadline = now_.mono + options_.volumes_max;
  volume_bindings_.insert_or_assign(
      uid, VolumeBinding{std::move(binding), std::move(plan), deadline, writing, ""});
  check_volumes();
}

void Scheduler::end_volume_request(const std::string& uid, const Outcome& outcome) {
  const auto at = volume_bindings_.find(uid);
  if (at == volume_bindings_.end()) return;
  --at->second.writing;
  if (!outcome.ok() && at->second.error.empty()) at->second.error = outcome.text;
  check_volumes();
}

Result<PlanState> Scheduler::progress_of_volumes(const VolumeBinding& waiting) const {
  if (!waiting.error.empty()) return fail(Errc::unavailable, waiting.error);
  const NodeView* node = state_.cluster().find(waiting.binding.node);
  if (node == nullptr) {
    return fail(Errc::not_found, "node \"" + waiting.binding.node + "\" not found");
  }
  TRY(const PlanState state, progress_of(state_.cluster().storage(), waiting.plan, *node->node));
  if (state == PlanState::waiting && now_.mono >= waiting.deadline) {
    return fail(Errc::timeout, "the volumes were not bound in time");
  }
  return state;
}

bool Scheduler::is_ending(const std::string& uid) const {
  if (!state_.is_assumed(uid)) return true;
  const PodRef live = state_.live(uid);
  return live == nullptr || live->pod->metadata.deletion_timestamp.has_value();
}

void Scheduler::check_volumes() {
  for (auto at = volume_bindings_.begin(); at != volume_bindings_.end();) {
    if (at->second.writing > 0) {
      ++at;
      continue;
    }
    const auto state = progress_of_volumes(at->second);
    const bool gone = is_ending(at->first);
    if (!gone && state && *state == PlanState::waiting) {
      ++at;
      continue;
    }
    VolumeBinding waiting = std::move(at->second);
    at = volume_bindings_.erase(at);
    if (gone) {
      const std::string& uid = waiting.binding.popped.pod->uid();
      state_.release_volumes(now_.mono, waiting.plan);
      state_.forget(now_.mono, uid);
      state_.queue().done(uid);
    } else if (state) {
      begin_binding(std::move(waiting.binding));
    } else {
      give_up_volumes(waiting, state.error().what);
    }
  }
}

void Scheduler::give_up_volumes(const VolumeBinding& waiting, const std::string& why) {
  const Binding& binding = waiting.binding;
  const PodRef& pod = binding.popped.pod;
  state_.release_volumes(now_.mono, waiting.plan);
  const std::string text = "running PreBind plugin \"" + std::string(plugin_volume_binding) +
                           "\": binding volumes: " + why;
  notes_.emplace_back(PodNotBound{pod->name(), binding.node, text});
  state_.forget(now_.mono, pod->uid());
  fail_attempt(binding.popped, {pod, reject(Code::error, text), std::nullopt, std::string()},
               binding.began);
}

}  // namespace holdfast::sync::schedule
