#include "test/system/agent/node/runtime_harness.h"

#include <gtest/gtest.h>
#include <stdexcept>

#include "sync/wire/codec.h"
#include "test/system/agent/node/processes.h"

namespace holdfast::agent::node::test {
namespace {

using namespace std::chrono_literals;

}  // namespace

void FakeSource::list(std::vector<std::shared_ptr<sync::Pod>> pods) {
  sync::runtime::CompletePods complete;
  for (const auto& pod : pods) complete.pods.push_back(std::make_shared<sync::Pod>(*pod));
  desired_ = std::move(complete);
  changed_.notify_all();
}

void FakeSource::never_received() {
  desired_ = sync::runtime::NeverReceived{};
  changed_.notify_all();
}

void FakeSource::set_config_map(const std::string& name, sync::StringMap data) {
  auto object = std::make_shared<sync::ConfigMap>();
  object->data = std::move(data);
  config_maps_[name] = std::move(object);
  changed_.notify_all();
}

sync::runtime::Lookup<sync::ConfigMap> FakeSource::config_map(std::string_view /*namespace_name*/,
                                                              std::string_view name) const {
  const auto found = config_maps_.find(name);
  if (found == config_maps_.end()) return sync::runtime::Absent{};
  return std::shared_ptr<const sync::ConfigMap>(found->second);
}

sync::runtime::Lookup<sync::Secret> FakeSource::secret(std::string_view /*namespace_name*/,
                                                       std::string_view /*name*/) const {
  return sync::runtime::NeverReceived{};
}

RuntimeHarness::RuntimeHarness(const fs::Path& dir, std::vector<std::string> shim)
    : source(io.get_executor()) {
  auto state = StateDir::open(dir);
  if (!state) throw std::runtime_error(state.error().what);
  state_ = std::make_unique<StateDir>(*std::move(state));
  ProcessRuntimeConfig config;
  config.shim = std::move(shim);
  if (config.shim.empty()) config.shim = {test_program(), "shim"};
  runtime_ = std::make_unique<ProcessRuntime>(io.get_executor(), std::move(config), *state_);
  sync::runtime::RuntimeConfig rules;
  rules.node.node_name = "edge-a";
  const PodWorkersDependencies parts{*state_, *runtime_, source, sink, pressure_, clock_};
  workers_ = std::make_unique<PodWorkers>(io.get_executor(), parts, std::move(rules));
  tasks_ = std::make_unique<loop::Tasks>(io.get_executor());
  tasks_->spawn("pods", workers_->run());
}

RuntimeHarness::~RuntimeHarness() {
  workers_->stop();
  EXPECT_TRUE(run_until([this] { return tasks_->size() == 0; }));
}

bool RuntimeHarness::run_until(const std::function<bool()>& is_true) {
  const MonoTime last = clock_.mono() + 30s;
  while (!is_true()) {
    if (clock_.mono() >= last) return false;
    io.restart();
    (void)io.run_one_for(1s);
  }
  return true;
}

void RuntimeHarness::run_ready() {
  io.restart();
  (void)io.poll();
}

const sync::ContainerStatus* RuntimeHarness::status(const std::string& pod) const {
  const auto found = sink.statuses.find(pod);
  return found == sink.statuses.end() ? nullptr : &found->second.container_statuses.at(0);
}

sync::ContainerStatus RuntimeHarness::await_running(const std::string& pod, int restarts) {
  const bool runs = run_until([this, &pod, restarts] {
    const auto* now = status(pod);
    return now != nullptr && now->state.running && now->restart_count == restarts;
  });
  EXPECT_TRUE(runs) << pod << " does not run";
  return runs ? *status(pod) : sync::ContainerStatus();
}

sync::ContainerStatus RuntimeHarness::await_waiting(const std::string& pod,
                                                    const std::string& reason) {
  const bool waits = run_until([this, &pod, &reason] {
    const auto* now = status(pod);
    return now != nullptr && now->state.waiting && now->state.waiting->reason == reason;
  });
  EXPECT_TRUE(waits) << pod << " does not wait for " << reason;
  return waits ? *status(pod) : sync::ContainerStatus();
}

std::shared_ptr<sync::Pod> script_pod(const std::string& name, const std::string& script,
                                      int grace) {
  auto pod = std::make_shared<sync::Pod>();
  pod->metadata.namespace_name = "default";
  pod->metadata.name = name;
  pod->metadata.uid = "uid-" + name;
  pod->metadata.resource_version = "1";
  pod->spec.restart_policy = "Always";
  pod->spec.termination_grace_period_seconds = grace;
  sync::Container container;
  container.name = "c";
  container.command = {"sh", "-c", script};
  pod->spec.containers.push_back(std::move(container));
  return pod;
}

void kill_everything_below(const fs::Path& dir) {
  std::error_code ec;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir, ec)) {
    if (entry.path().filename() != lock_file) continue;
    const fs::Path attempt = entry.path().parent_path();
    const auto launch = read_launch(attempt);
    const auto run = launch ? launch : read_run(attempt);
    if (!run) continue;
    kill_now(run->process);
    EXPECT_TRUE(await_end(run->shim));
    (void)proc::reap(run->shim.pid);
  }
}

}  // namespace holdfast::agent::node::test
