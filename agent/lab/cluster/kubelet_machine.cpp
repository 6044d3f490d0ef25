#include "agent/lab/cluster/kubelet_machine.h"

#include "agent/lab/cluster/machine_programs.h"
#include "platform/fs/file.h"
#include "platform/loop/timer.h"
#include "sync/wire/codec.h"
#include "sync/wire/list_bytes.h"

namespace holdfast::agent::lab::cluster {
namespace {

using namespace std::chrono_literals;

constexpr Duration boot_limit = 20s;
constexpr Duration runtime_start_limit = 30s;
constexpr Duration import_limit = 60s;
constexpr Duration groups_end_limit = 5s;
constexpr Duration wait_step = 50ms;
constexpr Duration read_interval = 500ms;
constexpr Duration read_limit = 2s;
constexpr std::uint16_t kubelet_port = 10250;

}  // namespace

Result<std::unique_ptr<KubeletMachine>> KubeletMachine::make(const asio::any_io_executor& executor,
                                                             KubeletSettings settings,
                                                             Children& children,
                                                             const Clock& clock) {
  std::unique_ptr<KubeletMachine> machine(new KubeletMachine(std::move(settings), children, clock));
  if (auto opened = machine->open(executor); !opened) return fail("kubelet", opened.error());
  return machine;
}

Status KubeletMachine::open(const asio::any_io_executor& executor) {
  if (auto written = files_.write(settings_.programs, settings_.choices); !written) return written;
  faults::FaultProxySettings way_in;
  way_in.connect_in = settings_.space;
  TRY(way_in_, faults::FaultProxy::open(executor, {"127.0.0.1", 0}, {"127.0.0.1", kubelet_port},
                                        std::move(way_in)));
  ClusterAccess access;
  access.tls = true;
  access.server = {"127.0.0.1", way_in_->port()};
  access.tls_settings.insecure = true;  // the kubelet signs its certificate itself
  TRY(client_, ApiClient::make(std::move(access), clock_, "holdfast-lab"));
  return {};
}

Status KubeletMachine::enter(const std::string& child, std::vector<std::string> argv) {
  std::vector<std::string> arguments = {files_.script().string(), "enter", groups_.name(),
                                        std::to_string(children_.pid(machine_child()))};
  arguments.insert(arguments.end(), argv.begin(), argv.end());
  const net::InsideNamespace inside(settings_.space.get());
  TRY([[maybe_unused]] const auto started, children_.start(child, "/bin/sh", std::move(arguments)));
  return {};
}

asio::awaitable<Status> KubeletMachine::boot() {
  Status done;
  if (children_.is_alive(machine_child())) co_return done;
  // What a power loss destroys; no mount is left below it.
  (void)fs::remove_tree(files_.runtime_state());
  done = fs::ensure_dir(files_.runtime_state());
  if (!done) co_return done;
  const std::string address = "10.99.0." + std::to_string(settings_.number + 1);
  std::vector<std::string> arguments = {
      "--mount", "--uts",        "--ipc",        "/bin/sh", files_.script().string(),
      "boot",    groups_.name(), settings_.node, address,   files_.folder.string()};
  {
    const net::InsideNamespace inside(settings_.space.get());
    CO_TRY([[maybe_unused]] const auto started,
           children_.start(machine_child(), "/usr/bin/unshare", std::move(arguments)));
  }
  const auto booted =
      co_await children_.logged(machine_child(), "booted", "name", clock_.mono() + boot_limit);
  if (!booted) co_return fail("machine", booted.error());
  co_return done;
}

asio::awaitable<Status> KubeletMachine::start_runtime() {
  Status done = co_await boot();
  if (!done || children_.is_alive(runtime_child())) co_return done;
  std::vector<std::string> argv = {"/usr/bin/env", "PATH=" + machine_path(),
                                   settings_.programs.containerd.string(), "--config",
                                   files_.runtime_config().string()};
  done = enter(runtime_child(), std::move(argv));
  if (!done) co_return done;
  const auto serves = co_await children_.logged(runtime_child(), "successfully booted", "level",
                                                clock_.mono() + runtime_start_limit);
  if (!serves) co_return fail("containerd", serves.error());
  if (!has_images_) done = co_await import_images();
  co_return done;
}

asio::awaitable<Status> KubeletMachine::import_images() {
  const std::string archive = settings_.programs.images.string();
  Status done = enter(import_child(),
                      {settings_.programs.ctr.string(), "--address=" + files_.socket().string(),
                       "--namespace=k8s.io", "images", "import", archive});
  if (!done) co_return done;
  const MonoTime limit = clock_.mono() + import_limit;
  while (children_.is_alive(import_child())) {
    if (clock_.mono() > limit) co_return fail(Errc::timeout, "import of " + archive);
    co_await loop::wait_for(wait_step);
  }
  has_images_ = true;
  co_return done;
}

Status KubeletMachine::start_kubelet(const std::string& name) {
  const std::string kubeconfig =
      settings_.kubeconfig.empty() ? files_.edge_kubeconfig().string() : settings_.kubeconfig;
  return enter(name, {settings_.programs.kubelet.string(),
                      "--config=" + files_.kubelet_config().string(), "--kubeconfig=" + kubeconfig,
                      "--container-runtime-endpoint=unix://" + files_.socket().string(),
                      "--hostname-override=" + settings_.node,
                      "--node-ip=10.99.0." + std::to_string(settings_.number + 1),
                      "--root-dir=" + files_.kubelet_data().string(), "--v=2"});
}

void KubeletMachine::power_off() {
  for (const std::string& child : {machine_child(), runtime_child(), import_child()}) {
    children_.kill(child);
  }
  // A process may start another one while they are killed.
  for (int round = 0; round < 3 && !groups_.processes().empty(); ++round) groups_.kill();
}

// ------------------------------------------------------------------------------------- observation

asio::awaitable<Result<std::vector<sync::Pod>>> KubeletMachine::read_pods() {
  ApiRequest request{.target = "/pods"};
  const auto body = co_await client_->call(std::move(request), clock_.mono() + read_limit);
  if (!body) co_return fail("pods of the kubelet", body.error());
  CO_TRY(const auto list, sync::wire::split_list(*body));
  std::vector<sync::Pod> pods;
  for (const auto& item : list.items) {
    CO_TRY(sync::Pod pod, sync::wire::decode_bytes<sync::Pod>(item));
    pods.push_back(std::move(pod));
  }
  co_return pods;
}

asio::awaitable<void> KubeletMachine::follow() {
  for (;;) {
    const auto pods = co_await read_pods();
    if (pods) {
      for (const sync::Pod& pod : *pods) known_.note(pod);
    }
    co_await loop::wait_for(read_interval);
  }
}

std::vector<ContainerProcess> KubeletMachine::containers() const {
  std::vector<ContainerProcess> running;
  for (const auto& [name, known] : known_.all()) {
    if (!groups_.runs(name.first, known.id)) continue;
    ContainerProcess container;
    container.pod_uid = name.first;
    container.container = name.second;
    container.attempt = known.attempt;
    running.push_back(std::move(container));
  }
  return running;
}

asio::awaitable<void> KubeletMachine::stop() {
  co_await way_in_->stop();
  const MonoTime limit = clock_.mono() + groups_end_limit;
  while (!groups_.remove() && clock_.mono() < limit) {
    groups_.kill();
    children_.reap();
    co_await loop::wait_for(wait_step);
  }
}

}  // namespace holdfast::agent::lab::cluster
