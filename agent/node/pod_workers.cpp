#include "agent/node/pod_workers.h"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include "platform/log.h"
#include "sync/runtime/failure_events.h"
#include "sync/runtime/status_patch.h"

namespace holdfast::agent::node {
namespace {

constexpr int rounds_max = 1000;  // far more than the pods of a node need to settle

std::string named(const sync::ObjectMeta& meta) { return meta.namespace_name + "/" + meta.name; }
std::string named(const sync::runtime::PodKey& pod) { return pod.namespace_name + "/" + pod.name; }

sync::runtime::PodKey key_of(const sync::Pod& pod) {
  return {pod.metadata.namespace_name, pod.metadata.name, pod.metadata.uid};
}

}  // namespace

PodWorkers::PodWorkers(asio::any_io_executor executor, const PodWorkersDependencies& parts,
                       sync::runtime::RuntimeConfig rules, const SenderConfig& sender)
    : dependencies_(parts),
      node_name_(rules.node.node_name),
      rules_(std::move(rules)),
      sender_(executor, parts.sink, parts.clock, sender),
      changed_(executor),
      tasks_(std::move(executor)) {
  dependencies_.runtime.on_change([this] { wake(); });
  adopt();
}

void PodWorkers::adopt() {
  dependencies_.runtime.adopt();
  std::vector<Error> damaged;
  auto records = dependencies_.state.load(damaged);
  if (!records) damaged.push_back(records.error());
  for (const Error& error : damaged) {
    // A crash during a removal leaves containers without a record. The rules end them.
    const bool is_stray = error.code == Errc::not_found;
    if (is_stray) log_info("pod without a record", {{"error", error}});
    if (!is_stray) log_error("cannot read pod record", {{"error", error}});
  }
  if (!records) return;
  for (sync::runtime::PodRecord& record : *records) {
    log_info("adopt pod", {{"pod", named(record.pod->metadata)}});
    rules_.adopt(std::move(record), dependencies_.clock.mono());
  }
}

asio::awaitable<void> PodWorkers::run() {
  // Its tasks refer to this object, so their end is awaited even when everything is cancelled.
  const asio::disable_cancellation never;
  co_await asio::this_coro::reset_cancellation_state(never);
  tasks_.spawn("send pod statuses", sender_.run());
  tasks_.spawn("await pod changes", await_changes());
  while (!is_stopping_) {
    is_dirty_ = false;
    dependencies_.runtime.refresh(dependencies_.clock.mono());
    settle();
    dependencies_.runtime.maintain(dependencies_.clock.mono());
    while (!is_dirty_ && dependencies_.clock.mono() < next_wake()) {
      (void)co_await changed_.wait_until(next_wake());
    }
  }
  tasks_.cancel();
  co_await tasks_.join();
  co_await dependencies_.runtime.stop();
}

void PodWorkers::stop() {
  is_stopping_ = true;
  wake();
}

void PodWorkers::wake() {
  is_dirty_ = true;
  changed_.notify_all();
}

MonoTime PodWorkers::next_wake() const {
  return std::min(rules_.deadline(), dependencies_.runtime.deadline());
}

asio::awaitable<void> PodWorkers::await_changes() {
  for (;;) {
    co_await dependencies_.source.changed().wait();
    wake();
  }
}

void PodWorkers::warn_of_unrunnable(const sync::runtime::CompletePods& complete) {
  for (const auto& pod : complete.pods) {
    if (sync::runtime::is_runnable(*pod) || !unrunnable_.insert(pod->metadata.uid).second) continue;
    log_warn("pod ignored: its uid or a container name is not usable as a file name",
             {{"pod", named(pod->metadata)}});
  }
}

void PodWorkers::refuse_inadmissible(sync::runtime::CompletePods& complete) {
  const std::set<std::string> refused_before = std::exchange(refused_, {});
  std::erase_if(complete.pods, [this, &refused_before](const auto& pod) {
    const std::string& uid = pod->metadata.uid;
    if (rules_.knows(uid) || !sync::runtime::is_runnable(*pod) || !needs_admission(*pod))
      return false;
    // A refusal is final, as with a kubelet, also if the pressure ends before it is reported.
    const bool is_known = refused_before.contains(uid);
    const auto admission =
        is_known ? sync::node::Admission() : node::admit(*pod, dependencies_.pressure);
    if (admission.admit && !is_known) return false;
    refused_.insert(uid);
    if (is_known) return true;
    log_warn("pod not admitted", {{"pod", named(pod->metadata)}, {"reason", admission.message}});
    const sync::runtime::PodKey key = key_of(*pod);
    sender_.report(key, sync::runtime::status_patch(key, refused_status(admission)));
    return true;
  });
}

void PodWorkers::settle() {
  sync::runtime::DesiredPods desired = dependencies_.source.desired();
  if (auto* complete = std::get_if<sync::runtime::CompletePods>(&desired)) {
    warn_of_unrunnable(*complete);
    refuse_inadmissible(*complete);
  }
  for (int round = 0; round < rounds_max; ++round) {
    const sync::runtime::RuntimeActions actions =
        rules_.step({dependencies_.clock.mono(), dependencies_.clock.wall(), desired,
                     dependencies_.runtime.observed(), dependencies_.source});
    if (actions.empty()) return;
    for (const sync::runtime::RuntimeAction& action : actions) {
      std::visit([this](const auto& one) { perform(one); }, action);
    }
  }
  log_error("reconciliation of the pods did not converge, continuing at the next change");
}

void PodWorkers::perform(const sync::runtime::RecordPod& action) {
  const std::string& uid = action.record.pod->metadata.uid;
  unrecorded_.erase(uid);
  const Status written = dependencies_.state.record(action.record);
  if (written) return;
  log_error("cannot write pod record", {{"error", written.error()}});
  unrecorded_.emplace(uid, action.record);
}

void PodWorkers::perform(const sync::runtime::StartContainer& action) {
  if (const auto waiting = unrecorded_.find(action.pod.uid); waiting != unrecorded_.end()) {
    // A container is started only when its pod's record is on disk.
    const Status written = dependencies_.state.record(waiting->second);
    if (!written) return dependencies_.runtime.reject_start(action, written.error().what);
    unrecorded_.erase(waiting);
  }
  log_info(
      "start container",
      {{"pod", named(action.pod)}, {"container", action.container}, {"restarts", action.restarts}});
  dependencies_.runtime.start(action);
}

void PodWorkers::perform(const sync::runtime::SignalContainer& action) {
  const bool is_kill = action.signal == sync::runtime::StopSignal::kill;
  log_info(is_kill ? "kill container" : "stop container",
           {{"uid", action.uid}, {"container", action.container}, {"attempt", action.number}});
  const Status sent = dependencies_.runtime.signal(action);
  if (sent || sent.error().code == Errc::not_found) return;  // It ended meanwhile.
  log_error("cannot signal container", {{"error", sent.error()}});
}

void PodWorkers::perform(const sync::runtime::ReportStatus& action) {
  log_debug("report pod status", {{"pod", named(action.pod)}, {"phase", action.status.phase}});
  sender_.report(action.pod, sync::runtime::status_patch(action.pod, action.status));
  sync::PodStatus& before = reported_[action.pod.uid];
  for (const sync::runtime::FailureEvent& failure :
       sync::runtime::failure_events(before, action.status)) {
    log_warn("container does not start",
             {{"pod", named(action.pod)}, {"reason", failure.reason}, {"error", failure.message}});
    sender_.event(action.pod, sync::runtime::make_event(action.pod, failure, node_name_,
                                                        dependencies_.clock.wall()));
  }
  before = action.status;
}

void PodWorkers::perform(const sync::runtime::FinalDelete& action) {
  log_info("pod has stopped", {{"pod", named(action.pod)}, {"uid", action.pod.uid}});
  sender_.final_delete(action.pod);
}

void PodWorkers::perform(const sync::runtime::RemovePod& action) {
  log_info("remove pod", {{"uid", action.uid}});
  unrecorded_.erase(action.uid);
  reported_.erase(action.uid);
  sender_.forget(action.uid);
  // Files that cannot be removed now are found again at the next start.
  dependencies_.runtime.forget(action.uid);
  const Status removed = dependencies_.state.remove(action.uid);
  if (!removed) log_error("cannot remove pod", {{"error", removed.error()}});
}

}  // namespace holdfast::agent::node
