#include "agent/node/process/process_runtime.h"

#include "agent/node/process/log_times.h"
#include "platform/log.h"
#include "platform/loop/clock.h"
#include "platform/version.h"

namespace holdfast::agent::node {

ProcessRuntime::ProcessRuntime(asio::any_io_executor executor, ProcessRuntimeConfig config,
                               const StateDir& state)
    : config_(std::move(config)),
      table_(state, config_.shim, loop::clock_of(executor)),
      watcher_(std::move(executor), config_.poll, [this] { wake_(); }) {}

std::string ProcessRuntime::version() const {
  return "process://" + std::string(holdfast::version);
}

void ProcessRuntime::adopt() {
  log_info("pods run as plain processes: for labs and tests only");
  table_.scan();
}

void ProcessRuntime::reject_start(const sync::runtime::StartContainer& start, std::string why) {
  table_.start_failed(start, std::move(why));
}

Status ProcessRuntime::signal(const sync::runtime::SignalContainer& signal) {
  return table_.signal(signal);
}

std::optional<ContainerRun> ProcessRuntime::find(const std::string& uid,
                                                 const std::string& container,
                                                 std::int32_t number) const {
  const AttemptKey key{uid, container, number};
  const fs::Path dir = table_.dir(key);
  return ContainerRun{dir / log_file, dir / log_times_file, table_.process_of(key)};
}

void ProcessRuntime::refresh(MonoTime now) {
  for (const AttemptKey& key : watcher_.take_due(now)) (void)table_.refresh(key);
}

void ProcessRuntime::maintain(MonoTime now) {
  maybe_limit_logs(now);
  watcher_.update(table_, now);
}

MonoTime ProcessRuntime::deadline() const {
  if (table_.observed().empty()) return watcher_.deadline();
  return std::min(watcher_.deadline(), logs_checked_ + config_.log_check_interval);
}

void ProcessRuntime::maybe_limit_logs(MonoTime now) {
  if (logs_checked_ != MonoTime::min() && now < logs_checked_ + config_.log_check_interval) return;
  logs_checked_ = now;
  const Status limited = table_.limit_logs(config_.log_bytes_max);
  if (!limited) log_warn("cannot limit container log", {{"error", limited.error()}});
}

}  // namespace holdfast::agent::node
