#include "sync/runtime/pod_worker.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::sync::runtime {
namespace {

// In seconds: ten years. A longer time in a pod makes no difference, and could not be added to the
// clock.
constexpr std::int64_t longest = std::int64_t{10} * 365 * 24 * 3600;

bool has_final_phase(const Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

// Whether the record must be written again. Each status report comes back as a new version of the
// pod, which alone is not worth a write to flash.
bool differs_in_record(const Pod& left, const Pod& right) {
  return left.spec != right.spec || left.metadata.labels != right.metadata.labels ||
         left.metadata.annotations != right.metadata.annotations ||
         left.metadata.deletion_timestamp != right.metadata.deletion_timestamp ||
         left.metadata.deletion_grace_period_seconds !=
             right.metadata.deletion_grace_period_seconds;
}

bool anything_runs(const ObservedPod& observed) {
  for (const auto& [container, attempts] : observed) {
    if (!attempts.empty() && attempts.back().state != AttemptState::ended) return true;
  }
  return false;
}

// Other controllers must remove their finalizers first; a DELETE would change nothing.
bool waits_for_finalizers(const Pod& pod) {
  return !pod.metadata.finalizers.empty() && pod.metadata.deletion_grace_period_seconds == 0;
}

}  // namespace

PodWorker PodWorker::accept(std::shared_ptr<const Pod> pod, MonoTime now, WallTime now_wall) {
  CHECK(pod != nullptr);
  PodWorker worker(PodRecord{std::move(pod), now_wall, now, {}});
  worker.must_record_ = true;
  worker.is_new_version_ = true;
  return worker;
}

PodWorker PodWorker::adopt(PodRecord record, MonoTime now) {
  CHECK(record.pod != nullptr);
  PodWorker worker(std::move(record));
  worker.is_new_version_ = true;
  worker.is_wanted_ = worker.record_.stopping != StopCause::removed;
  if (!worker.record_.accepted) worker.record_.accepted = now;
  return worker;
}

void PodWorker::wanted(std::shared_ptr<const Pod> pod) {
  CHECK(pod != nullptr && pod->metadata.uid == this->pod().metadata.uid);
  is_wanted_ = true;
  if (pod == record_.pod) return;
  if (differs_in_record(*pod, this->pod())) must_record_ = true;
  if (pod->metadata.resource_version != this->pod().metadata.resource_version) {
    is_new_version_ = true;
  }
  record_.pod = std::move(pod);
}

void PodWorker::unwanted() { is_wanted_ = false; }

PodKey PodWorker::key() const {
  return {pod().metadata.namespace_name, pod().metadata.name, pod().metadata.uid};
}

Duration PodWorker::grace(const RuntimeConfig& config) const {
  const auto own = pod().spec.termination_grace_period_seconds;
  auto seconds =
      record_.stopping == StopCause::deleted ? pod().metadata.deletion_grace_period_seconds : own;
  if (!seconds) seconds = own;
  if (!seconds) return config.grace_default;
  // As in the kubelet, even a pod that is deleted by force gets one second.
  constexpr std::int64_t least = 1;
  return std::chrono::seconds(std::clamp(*seconds, least, longest));
}

// A stronger cause replaces a weaker one: for a removed pod there is nobody to report to.
void PodWorker::stop(StopCause cause) {
  if (record_.stopping && *record_.stopping >= cause) return;
  record_.stopping = cause;
  must_record_ = true;
}

void PodWorker::maybe_stop(MonoTime now, bool complete) {
  if (complete) stop(StopCause::completed);
  if (const auto seconds = pod().spec.active_deadline_seconds; seconds && !record_.stopping) {
    const MonoTime last = *record_.accepted + std::chrono::seconds(std::min(*seconds, longest));
    if (now >= last) stop(StopCause::deadline);
    if (now < last) wake_at(last);
  }
  if (pod().metadata.deletion_timestamp) stop(StopCause::deleted);
  if (!is_wanted_) stop(StopCause::removed);
  if (record_.stopping && !stop_began_) stop_began_ = now;
}

void PodWorker::step(const RuntimeConfig& config, const PodStep& step, RuntimeActions& actions) {
  CHECK(!finished_);
  deadline_ = MonoTime::max();
  std::vector<ContainerView> views = view_containers(pod(), step.observed, config.backoff);
  maybe_stop(step.now, has_final_phase(pod()) || is_complete(views));
  const bool ends_now = !is_wanted_ && !anything_runs(step.observed);
  if (must_record_ && !ends_now) actions.push_back(RecordPod{record_});
  must_record_ = false;
  const std::size_t before = actions.size();
  if (record_.stopping) {
    end(config, step, actions);
  } else {
    run(config, step, views, actions);
  }
  // If a pod had ended before this node got it, its status says more than we know.
  const bool is_ours = !(has_final_phase(pod()) && step.observed.empty());
  // The actions above change the status. It is reported after their effects are observed.
  if (actions.size() == before && is_wanted_ && is_ours) report(config, step, views, actions);
  if (stopped_) settle(config, step.now, actions);
}

void PodWorker::run(const RuntimeConfig& config, const PodStep& step,
                    std::vector<ContainerView>& views, RuntimeActions& actions) {
  for (ContainerView& view : views) {
    if (!view.is_turn || view.next != Next::start) continue;
    if (view.start_at > step.now) {
      wake_at(view.start_at);
      continue;
    }
    start(config, step, view, actions);
  }
}

void PodWorker::start(const RuntimeConfig& config, const PodStep& step, ContainerView& view,
                      RuntimeActions& actions) {
  auto plan = make_launch_plan(pod(), *view.container, config.node, step.configs);
  if (!plan) {
    view.problem.reason = "CreateContainerConfigError";
    view.problem.message = plan.error().what;
    wake_at(step.now + config.config_retry);
    return;
  }
  StartContainer start{key(), view.container->name, 0, 0, view.next_delay, std::move(*plan)};
  if (!view.attempts.empty()) {
    const Attempt& last = view.attempts.back();
    start.number = last.number + 1;
    start.restarts = last.restarts + (view.current() != nullptr ? 1 : 0);
  }
  actions.push_back(std::move(start));
}

void PodWorker::signal_all(const PodStep& step, StopSignal signal, RuntimeActions& actions) {
  for (const auto& [container, attempts] : step.observed) {
    if (attempts.empty() || attempts.back().state != AttemptState::running) continue;
    const std::int32_t number = attempts.back().number;
    const bool is_first = terminated_.emplace(container, number).second;
    if (!is_first && signal == StopSignal::terminate) continue;
    actions.push_back(SignalContainer{pod().metadata.uid, container, number, signal});
  }
}

void PodWorker::end(const RuntimeConfig& config, const PodStep& step, RuntimeActions& actions) {
  stopped_ = !anything_runs(step.observed);
  if (stopped_) return;
  MonoTime kill_at = *stop_began_ + grace(config);
  if (killed_) kill_at = std::max(kill_at, *killed_ + config.kill_retry);
  if (step.now < kill_at) {
    signal_all(step, StopSignal::terminate, actions);
    wake_at(kill_at);
    return;
  }
  killed_ = step.now;
  signal_all(step, StopSignal::kill, actions);
  wake_at(step.now + config.kill_retry);
}

void PodWorker::report(const RuntimeConfig& config, const PodStep& step,
                       const std::vector<ContainerView>& views, RuntimeActions& actions) {
  StatusFacts facts{config.node, step.now_wall, record_.accepted_wall, stopped_, {}, {}};
  if (stopped_ && record_.stopping == StopCause::deadline) {
    facts.reason = "DeadlineExceeded";
    facts.message = "Pod was active on the node longer than the specified deadline";
  }
  PodStatus status = make_pod_status(pod(), views, facts, reported_ ? &*reported_ : nullptr);
  const bool is_known = says_the_same(status, pod().status);
  const bool was_said = reported_ && says_the_same(*reported_, status);
  // A new version with a different status: somebody has overwritten ours, so report it again.
  const bool is_news = was_said ? is_new_version_ && !is_known : reported_ || !is_known;
  is_new_version_ = false;
  reported_ = std::move(status);
  if (is_news) actions.push_back(ReportStatus{key(), *reported_});
}

// Called when the pod is stopped: asks for the final DELETE, or removes the pod.
void PodWorker::settle(const RuntimeConfig& config, MonoTime now, RuntimeActions& actions) {
  if (record_.stopping == StopCause::removed) {
    actions.push_back(RemovePod{pod().metadata.uid});
    finished_ = true;
    return;
  }
  if (record_.stopping != StopCause::deleted || waits_for_finalizers(pod())) return;
  if (!deleted_ || now >= *deleted_ + config.final_delete_retry) {
    deleted_ = now;
    actions.push_back(FinalDelete{key()});
  }
  wake_at(*deleted_ + config.final_delete_retry);
}

}  // namespace holdfast::sync::runtime
