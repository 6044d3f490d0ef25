// PodWorkers with a ProcessRuntime on their own event loop. The test provides the list of pods and
// receives the reports.

#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>

#include "agent/node/pod_workers.h"
#include "agent/node/process/process_runtime.h"
#include "test/support/scratch_dir.h"
#include "test/support/system_loop.h"
#include "test/unit/agent/node/fake_sink.h"

namespace holdfast::agent::node::test {

class FakeSource final : public PodSource {
 public:
  explicit FakeSource(asio::any_io_executor executor) : changed_(std::move(executor)) {}

  // list() sets the complete list; never_received() simulates that no list has arrived.
  void list(std::vector<std::shared_ptr<sync::Pod>> pods);
  void never_received();
  void set_config_map(const std::string& name, sync::StringMap data);

  [[nodiscard]] sync::runtime::DesiredPods desired() const override { return desired_; }
  [[nodiscard]] loop::Event& changed() override { return changed_; }
  [[nodiscard]] sync::runtime::Lookup<sync::ConfigMap> config_map(
      std::string_view namespace_name, std::string_view name) const override;
  [[nodiscard]] sync::runtime::Lookup<sync::Secret> secret(std::string_view namespace_name,
                                                           std::string_view name) const override;

 private:
  sync::runtime::DesiredPods desired_;
  std::map<std::string, std::shared_ptr<sync::ConfigMap>, std::less<>> config_maps_;
  loop::Event changed_;
};

class RuntimeHarness {
 public:
  // `shim` is the command line of a shim; empty means the test program's own.
  explicit RuntimeHarness(const fs::Path& dir, std::vector<std::string> shim = {});
  // Stops the agent in an orderly way; the containers keep running.
  ~RuntimeHarness();
  RuntimeHarness(const RuntimeHarness&) = delete;
  RuntimeHarness& operator=(const RuntimeHarness&) = delete;

  // Runs the loop until `is_true` holds; false after 30 s.
  [[nodiscard]] bool run_until(const std::function<bool()>& is_true);
  // Runs until the pod's first container has started for the n-th time; returns its status.
  sync::ContainerStatus await_running(const std::string& pod, int restarts);
  // Runs until the container waits for that reason; returns its status.
  sync::ContainerStatus await_waiting(const std::string& pod, const std::string& reason);
  void cancel() { tasks_->cancel(); }
  // Runs all handlers that are ready, without waiting.
  void run_ready();

  holdfast::test::SystemLoop io;
  FakeSource source;
  FakeSink sink;

 private:
  // The last reported status of the pod's first container; nullptr before the first report.
  [[nodiscard]] const sync::ContainerStatus* status(const std::string& pod) const;

  SystemClock clock_;
  NoPressure pressure_;
  std::unique_ptr<StateDir> state_;
  std::unique_ptr<ProcessRuntime> runtime_;
  std::unique_ptr<PodWorkers> workers_;
  std::unique_ptr<loop::Tasks> tasks_;
};

// The pod "default/NAME" with uid "uid-NAME" and a container "c" that runs that shell script.
[[nodiscard]] std::shared_ptr<sync::Pod> script_pod(const std::string& name,
                                                    const std::string& script, int grace = 30);

// Kills all processes that the records below a runtime's directory name.
void kill_everything_below(const fs::Path& dir);

}  // namespace holdfast::agent::node::test
