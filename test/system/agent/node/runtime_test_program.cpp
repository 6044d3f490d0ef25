// `runtime_test_program shim DIR WORKDIR`: runs as a shim.
// `runtime_test_program agent DIR LIST`: runs the pods in the file LIST (a JSON array) until it is
// stopped or killed.

#include <boost/asio/this_coro.hpp>
#include <boost/json/array.hpp>
#include <cstdio>
#include <cstring>

#include "agent/node/pod_workers.h"
#include "agent/node/process/process_runtime.h"
#include "agent/node/process/shim.h"
#include "platform/loop/program.h"
#include "sync/wire/codec.h"

namespace holdfast::agent::node {
namespace {

class FixedSource final : public PodSource {
 public:
  FixedSource(asio::any_io_executor executor, sync::runtime::DesiredPods desired)
      : desired_(std::move(desired)), changed_(std::move(executor)) {}

  [[nodiscard]] sync::runtime::DesiredPods desired() const override { return desired_; }
  [[nodiscard]] loop::Event& changed() override { return changed_; }
  [[nodiscard]] sync::runtime::Lookup<sync::ConfigMap> config_map(std::string_view,
                                                                  std::string_view) const override {
    return sync::runtime::Absent{};
  }
  [[nodiscard]] sync::runtime::Lookup<sync::Secret> secret(std::string_view,
                                                           std::string_view) const override {
    return sync::runtime::Absent{};
  }

 private:
  sync::runtime::DesiredPods desired_;
  loop::Event changed_;
};

class NoSink final : public StatusSink {
 public:
  asio::awaitable<Status> report_status(sync::runtime::PodKey, std::string) override {
    Status sent;
    co_return sent;
  }
  asio::awaitable<Status> record_event(sync::Event) override {
    Status sent;
    co_return sent;
  }
  asio::awaitable<Status> final_delete(sync::runtime::PodKey) override {
    Status sent;
    co_return sent;
  }
};

sync::runtime::DesiredPods read_list(const fs::Path& file) {
  const auto text = fs::read_all(file, 1U << 20);
  if (!text) return sync::runtime::NeverReceived{};
  const auto items = sync::wire::parse_json(*text).value();
  sync::runtime::CompletePods complete;
  for (const auto& item : items.as_array()) {
    complete.pods.push_back(
        std::make_shared<sync::Pod>(sync::wire::decode<sync::Pod>(item).value()));
  }
  return complete;
}

asio::awaitable<void> stop_on_request(loop::Stop& stop, PodWorkers& workers) {
  co_await stop.wait();
  workers.stop();
}

asio::awaitable<int> run_agent(loop::Stop& stop, fs::Path dir, fs::Path list) {
  const auto executor = co_await asio::this_coro::executor;
  const auto state = StateDir::open(dir);
  if (!state) {
    (void)std::fprintf(stderr, "%s\n", state.error().what.c_str());
    co_return 1;
  }
  FixedSource source(executor, read_list(list));
  NoSink sink;
  const NoPressure pressure;
  const SystemClock clock;
  ProcessRuntime runtime(executor, ProcessRuntimeConfig(), *state);
  const PodWorkersDependencies parts{*state, runtime, source, sink, pressure, clock};
  PodWorkers workers(executor, parts, sync::runtime::RuntimeConfig());
  loop::Tasks tasks(executor);
  tasks.spawn("stop", stop_on_request(stop, workers));
  co_await workers.run();
  tasks.cancel();
  co_await tasks.join();
  co_return 0;
}

int main_of(int count, char** arguments) {
  if (count >= 2 && std::strcmp(arguments[1], "shim") == 0) {
    return shim_main(SystemClock(), count - 2, arguments + 2);
  }
  if (count != 4 || std::strcmp(arguments[1], "agent") != 0) return 2;
  const fs::Path dir = arguments[2];
  const fs::Path list = arguments[3];
  const loop::Program program = [dir, list](loop::Stop& stop) {
    return run_agent(stop, dir, list);
  };
  return loop::run(SystemClock(), program);
}

}  // namespace
}  // namespace holdfast::agent::node

int main(int count, char** arguments) { return holdfast::agent::node::main_of(count, arguments); }
