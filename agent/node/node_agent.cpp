#include "agent/node/node_agent.h"

#include "agent/node/node_status.h"
#include "agent/node/process/process_runtime.h"
#include "platform/fs/ownership.h"
#include "platform/log.h"
#include "platform/version.h"

namespace holdfast::agent::node {
namespace {

constexpr RequestLimits write_limits = {.qps = 50, .burst = 100};  // the kubelet's defaults

sync::runtime::RuntimeConfig rules_of(const NodeOptions& options) {
  sync::runtime::RuntimeConfig rules;
  rules.node.node_name = options.node_name;
  rules.backoff = {.initial = options.restart_backoff,
                   .most = options.restart_backoff_max,
                   .reset_after = options.restart_backoff_reset};
  return rules;
}

std::unique_ptr<Runtime> make_process_runtime(asio::any_io_executor executor,
                                              const StateDir& state) {
  return std::make_unique<ProcessRuntime>(std::move(executor), ProcessRuntimeConfig(), state);
}

Result<std::string> read_flag_file(std::string_view flag, const std::string& file, bool secret) {
  constexpr std::size_t pem_bytes_max = 1UL << 20;
  const fs::Path path(file);
  if (!secret) {
    auto text = fs::read_all(path, pem_bytes_max);
    if (!text) return fail(std::string(flag), text.error());
    return text;
  }
  auto key = fs::read_foreign_secret(path, pem_bytes_max);
  if (!key) return fail(std::string(flag), key.error());
  if (!key->warning.empty()) log_warn("unsafe file", {{"flag", flag}, {"problem", key->warning}});
  return std::move(key->bytes);
}

// Null if no authority says who the API server is.
Result<std::unique_ptr<KubeletApi>> open_kubelet(asio::any_io_executor executor,
                                                 const NodeOptions& options,
                                                 const net::HostPort& listen) {
  if (options.client_ca_file.empty()) return nullptr;
  KubeletSettings settings{.node_name = options.node_name, .listen = listen};
  TRY(settings.client_ca_pem, read_flag_file("--client-ca-file", options.client_ca_file, false));
  if (!options.tls_cert_file.empty()) {
    TRY(settings.identity.certificate_pem,
        read_flag_file("--tls-cert-file", options.tls_cert_file, false));
    TRY(settings.identity.key_pem,
        read_flag_file("--tls-private-key-file", options.tls_private_key_file, true));
  }
  auto opened = KubeletApi::open(std::move(executor), std::move(settings));
  if (!opened) return fail("--kubelet-listen", opened.error());
  return opened;
}

}  // namespace

Result<std::unique_ptr<NodeAgent>> NodeAgent::make(asio::any_io_executor executor,
                                                   const NodeOptions& options, const Clock& clock,
                                                   NodeAgentDependencies parts) {
  TRY(ClusterAccess access, api_access(options));
  log_warnings_about(access);
  const std::string user_agent = "holdfast-node/" + std::string(version);
  TRY(auto client, ApiClient::make(access, clock, user_agent));
  TRY(auto heartbeat_client, ApiClient::make(std::move(access), clock, user_agent));
  auto state = StateDir::open(options.data_dir);
  if (!state) return fail("--data-dir", state.error());
  // Checks that can fail come before the runtime is made, because the runtime must be stopped.
  TRY(const KubeletAddresses addresses, kubelet_addresses(options));
  TRY(auto kubelet, open_kubelet(executor, options, addresses.listen));
  NodeFlags flags{.name = options.node_name,
                  .labels = options.node_labels,
                  .capacity = options.node_capacity,
                  .address = addresses.advertise.host};
  if (kubelet) {
    const std::uint16_t port = addresses.advertise.port;
    flags.kubelet_port = port == 0 ? kubelet->port() : port;
  }
  TRY(sync::Node node, make_node(flags, read_machine(), clock.wall()));
  Opened opened{.state = std::make_unique<StateDir>(*std::move(state)),
                .runtime = {},
                .pressure = std::move(parts.pressure),
                .kubelet = std::move(kubelet),
                .client = std::move(client),
                .heartbeat_client = std::move(heartbeat_client),
                .node = std::move(node)};
  if (!opened.pressure) opened.pressure = std::make_unique<NoPressure>();
  if (!parts.make_runtime) parts.make_runtime = make_process_runtime;
  opened.runtime = parts.make_runtime(executor, *opened.state);
  opened.node.status.node_info.container_runtime_version = opened.runtime->version();
  return std::unique_ptr<NodeAgent>(
      new NodeAgent(std::move(executor), options, clock, std::move(opened)));
}

NodeAgent::NodeAgent(asio::any_io_executor executor, const NodeOptions& options, const Clock& clock,
                     Opened opened)
    : state_(std::move(opened.state)),
      runtime_(std::move(opened.runtime)),
      pressure_(std::move(opened.pressure)),
      client_(std::move(opened.client)),
      heartbeat_client_(std::move(opened.heartbeat_client)),
      writer_(*client_, write_limits, permit_, clock, [](const auto& /*request*/) {}),
      pods_(executor, options.node_name, options.pod_selector, *client_, clock),
      reports_(writer_, clock),
      workers_(executor, {*state_, *runtime_, pods_, reports_, *pressure_, clock},
               rules_of(options)),
      reporter_(std::move(opened.node), options.status_interval, *heartbeat_client_, *pressure_,
                clock),
      lease_({options.node_name, options.lease_duration, options.lease_renew_interval},
             *heartbeat_client_, clock),
      kubelet_(std::move(opened.kubelet)),
      node_name_(options.node_name),
      tasks_(std::move(executor)) {}

Status NodeAgent::start() {
  pods_.start();
  tasks_.spawn("pods", workers_.run());
  tasks_.spawn("node status", reporter_.run());
  tasks_.spawn("node lease", lease_.run());
  if (kubelet_) {
    kubelet_->start(
        {.pod = [this](std::string_view name_space,
                       std::string_view name) { return workers_.find(name_space, name); },
         .runtime = *runtime_});
  }
  log_info("running pods", {{"node", node_name_},
                            {"server", client_->access().server.text()},
                            {"adopted", workers_.pods()}});
  return {};
}

asio::awaitable<void> NodeAgent::stop(MonoTime deadline) {
  if (kubelet_) co_await kubelet_->stop(deadline);
  workers_.stop();
  tasks_.cancel();
  co_await tasks_.join();
  co_await runtime_->stop();  // needed if run() was never called
  co_await pods_.stop();
}

}  // namespace holdfast::agent::node
