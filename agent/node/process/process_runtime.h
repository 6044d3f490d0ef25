// Runs containers as plain local processes, for labs and tests: no images, volumes, probes, users
// or resource limits (sync/runtime/pod_runtime.h).
// Each container has a shim (shim.h) as its parent, and its files are below the pod's directory
// (attempt_files.h). Containers outlive this program: the next run finds them by pid, start time
// and boot id.
//
// Threading: the loop's thread only. Starting a container takes some milliseconds (a fork, and
// three small files that are synced).

#pragma once

#include <memory>

#include "agent/node/process/log_limit.h"
#include "agent/node/process/process_watcher.h"
#include "agent/node/runtime.h"

namespace holdfast::agent::node {

struct ProcessRuntimeConfig {
  // The command that runs a shim. The default is this program itself; a test names another one.
  std::vector<std::string> shim = {"/proc/self/exe", "shim"};
  Duration poll = std::chrono::seconds(1);                 // for changes the kernel cannot announce
  std::uint64_t log_bytes_max = node::log_bytes_max;       // of one container
  Duration log_check_interval = std::chrono::seconds(60);  // while there are containers
};

class ProcessRuntime final : public Runtime {
 public:
  // `state` outlives it.
  ProcessRuntime(asio::any_io_executor executor, ProcessRuntimeConfig config,
                 const StateDir& state);

  [[nodiscard]] std::string version() const override;
  void adopt() override;
  void start(const sync::runtime::StartContainer& start) override { table_.start(start); }
  void reject_start(const sync::runtime::StartContainer& start, std::string why) override;
  [[nodiscard]] Status signal(const sync::runtime::SignalContainer& signal) override;
  void forget(const std::string& uid) override { table_.forget(uid); }
  [[nodiscard]] const sync::runtime::ObservedPods& observed() const override {
    return table_.observed();
  }
  [[nodiscard]] std::optional<ContainerRun> find(const std::string& uid,
                                                 const std::string& container,
                                                 std::int32_t number) const override;
  void refresh(MonoTime now) override;
  void maintain(MonoTime now) override;
  [[nodiscard]] MonoTime deadline() const override;
  void on_change(std::function<void()> wake) override { wake_ = std::move(wake); }
  asio::awaitable<void> stop() override { return watcher_.stop(); }

 private:
  void maybe_limit_logs(MonoTime now);

  ProcessRuntimeConfig config_;
  std::function<void()> wake_ = [] {};
  ProcessTable table_;
  ProcessWatcher watcher_;
  MonoTime logs_checked_ = MonoTime::min();
};

}  // namespace holdfast::agent::node
