#include "agent/edge/runtime/process_runtime.h"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include "platform/log.h"
#include "sync/runtime/failure_events.h"
#include "sync/runtime/status_patch.h"

namespace holdfast::agent {
namespace {

constexpr int rounds_max = 1000;  // far more than the pods of a node need to come to rest

std::string named(const sync::ObjectMeta& meta) { return meta.namespace_name + "/" + meta.name; }
std::string named(const sync::PodKey& pod) { return pod.namespace_name + "/" + pod.name; }

}  // namespace

Result<std::unique_ptr<ProcessRuntime>> ProcessRuntime::open(asio::any_io_executor executor,
                                                             ProcessRuntimeConfig config,
                                                             PodSource& source, StatusSink& sink,
                                                             const Clock& clock) {
  TRY(StateDir state, StateDir::open(config.dir));
  std::unique_ptr<ProcessRuntime> runtime(new ProcessRuntime(
      std::move(executor), std::move(config), std::move(state), source, sink, clock));
  runtime->adopt();
  return runtime;
}

ProcessRuntime::ProcessRuntime(asio::any_io_executor executor, ProcessRuntimeConfig config,
                               StateDir state, PodSource& source, StatusSink& sink,
                               const Clock& clock)
    : config_(std::move(config)),
      state_(std::move(state)),
      source_(source),
      clock_(clock),
      table_(state_, config_.shim),
      rules_(config_.rules),
      sender_(executor, sink, clock, config_.sender),
      watcher_(executor, config_.poll, [this] { wake(); }),
      changed_(executor),
      tasks_(executor) {}

void ProcessRuntime::adopt() {
  table_.scan();
  std::vector<Error> damaged;
  auto records = state_.load(damaged);
  if (!records) damaged.push_back(records.error());
  for (const Error& error : damaged) {
    // Without a record: what a crash in the middle of a removal leaves. The rules end it.
    const bool is_stray = error.code == Errc::not_found;
    if (is_stray) log_info("pod without a record", {{"error", error}});
    if (!is_stray) log_error("cannot read pod record", {{"error", error}});
  }
  if (!records) return;
  for (sync::PodRecord& record : *records) {
    log_info("adopt pod", {{"pod", named(record.pod->metadata)}});
    rules_.adopt(std::move(record), clock_.mono());
  }
}

asio::awaitable<void> ProcessRuntime::run() {
  // Its tasks refer to us, so their end is waited for even when everything is being cancelled.
  const asio::disable_cancellation never;
  co_await asio::this_coro::reset_cancellation_state(never);
  log_info("pods run as plain processes: for labs and tests only");
  tasks_.spawn("send pod statuses", sender_.run());
  tasks_.spawn("await pod changes", await_changes());
  while (!is_stopping_) {
    is_dirty_ = false;
    for (const AttemptKey& key : watcher_.take_due(clock_.mono())) (void)table_.refresh(key);
    settle();
    maybe_limit_logs();
    watcher_.update(table_, clock_.mono());
    while (!is_dirty_ && clock_.mono() < next_wake()) {
      (void)co_await changed_.wait_until(next_wake());
    }
  }
  tasks_.cancel();
  co_await tasks_.join();
  co_await watcher_.stop();
}

void ProcessRuntime::stop() {
  is_stopping_ = true;
  wake();
}

void ProcessRuntime::wake() {
  is_dirty_ = true;
  changed_.notify_all();
}

MonoTime ProcessRuntime::next_wake() const {
  MonoTime next = std::min(rules_.deadline(), watcher_.deadline());
  if (rules_.size() > 0) next = std::min(next, logs_checked_ + config_.log_check_interval);
  return next;
}

void ProcessRuntime::maybe_limit_logs() {
  const MonoTime now = clock_.mono();
  if (logs_checked_ != MonoTime::min() && now < logs_checked_ + config_.log_check_interval) return;
  logs_checked_ = now;
  const Status limited = table_.limit_logs(config_.log_bytes_max);
  if (!limited) log_warn("cannot limit container log", {{"error", limited.error()}});
}

asio::awaitable<void> ProcessRuntime::await_changes() {
  for (;;) {
    co_await source_.changed().wait();
    wake();
  }
}

void ProcessRuntime::warn_of_unrunnable(const sync::DesiredPods& desired) {
  const auto* complete = std::get_if<sync::CompletePods>(&desired);
  if (complete == nullptr) return;
  for (const auto& pod : complete->pods) {
    if (sync::is_runnable(*pod) || !unrunnable_.insert(pod->metadata.uid).second) continue;
    log_warn("ignore a pod whose uid or container names cannot be names of files",
             {{"pod", named(pod->metadata)}});
  }
}

void ProcessRuntime::settle() {
  const sync::DesiredPods desired = source_.desired();
  warn_of_unrunnable(desired);
  for (int round = 0; round < rounds_max; ++round) {
    const sync::RuntimeActions actions =
        rules_.step({clock_.mono(), clock_.wall(), desired, table_.observed(), source_});
    if (actions.empty()) return;
    for (const sync::RuntimeAction& action : actions) {
      std::visit([this](const auto& one) { perform(one); }, action);
    }
  }
  log_error("the pods do not come to rest");
}

void ProcessRuntime::perform(const sync::RecordPod& action) {
  const std::string& uid = action.record.pod->metadata.uid;
  unrecorded_.erase(uid);
  const Status written = state_.record(action.record);
  if (written) return;
  log_error("cannot write pod record", {{"error", written.error()}});
  unrecorded_.emplace(uid, action.record);
}

void ProcessRuntime::perform(const sync::StartContainer& action) {
  if (const auto waiting = unrecorded_.find(action.pod.uid); waiting != unrecorded_.end()) {
    // Nothing runs that is not written down.
    const Status written = state_.record(waiting->second);
    if (!written) return table_.start_failed(action, written.error().what);
    unrecorded_.erase(waiting);
  }
  log_info(
      "start container",
      {{"pod", named(action.pod)}, {"container", action.container}, {"restarts", action.restarts}});
  table_.start(action);
}

void ProcessRuntime::perform(const sync::SignalContainer& action) {
  const bool is_kill = action.signal == sync::StopSignal::kill;
  log_info(is_kill ? "kill container" : "stop container",
           {{"uid", action.uid}, {"container", action.container}, {"attempt", action.number}});
  const Status sent = table_.signal(action);
  if (sent || sent.error().code == Errc::not_found) return;  // It has just ended.
  log_error("cannot signal container", {{"error", sent.error()}});
}

void ProcessRuntime::perform(const sync::ReportStatus& action) {
  log_debug("report pod", {{"pod", named(action.pod)}, {"phase", action.status.phase}});
  sender_.report(action.pod, sync::status_patch(action.pod, action.status));
  sync::PodStatus& before = reported_[action.pod.uid];
  for (const sync::FailureEvent& failure : sync::failure_events(before, action.status)) {
    log_warn("container does not start",
             {{"pod", named(action.pod)}, {"reason", failure.reason}, {"error", failure.message}});
    sender_.event(action.pod, sync::make_event(action.pod, failure, config_.rules.node.node_name,
                                               clock_.wall()));
  }
  before = action.status;
}

void ProcessRuntime::perform(const sync::FinalDelete& action) {
  log_info("pod has stopped", {{"pod", named(action.pod)}, {"uid", action.pod.uid}});
  sender_.final_delete(action.pod);
}

void ProcessRuntime::perform(const sync::RemovePod& action) {
  log_info("remove pod", {{"uid", action.uid}});
  unrecorded_.erase(action.uid);
  reported_.erase(action.uid);
  sender_.forget(action.uid);
  const Status removed = table_.remove(action.uid);
  if (!removed) log_error("cannot remove pod", {{"error", removed.error()}});
}

}  // namespace holdfast::agent
