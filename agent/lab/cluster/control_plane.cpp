#include "agent/lab/cluster/control_plane.h"

#include <algorithm>
#include <csignal>

#include "agent/lab/apiserver/kubelet_dir.h"
#include "platform/fs/file.h"
#include "platform/loop/timer.h"
#include "platform/text.h"

namespace holdfast::agent::lab::cluster {
namespace {

constexpr Duration server_start_limit = std::chrono::seconds(15);
constexpr Duration kube_start_limit = std::chrono::seconds(90);
constexpr Duration ready_poll = std::chrono::milliseconds(100);
constexpr const char* server_child = "apiserver";
constexpr const char* cloud_child = "cloud";

const char* child_of(Process process) {
  return process == Process::cloud ? cloud_child : server_child;
}

bool has(const Flags& flags, std::string_view name) {
  return std::any_of(flags.begin(), flags.end(),
                     [name](const auto& flag) { return flag.first == name; });
}

}  // namespace

ControlPlane::ControlPlane(asio::any_io_executor executor, ControlPlaneSettings settings,
                           Children& children, const Clock& clock)
    : executor_(std::move(executor)),
      settings_(std::move(settings)),
      children_(children),
      clock_(clock),
      tokens_(Tokens::make(settings_.nodes)) {}

std::filesystem::path ControlPlane::admin_kubeconfig() const {
  return settings_.data / "admin.kubeconfig";
}

std::filesystem::path ControlPlane::audit_log() const { return settings_.data / "audit.log"; }

std::string ControlPlane::node_kubeconfig(const std::string& node, std::uint16_t port) const {
  if (!settings_.host) return kubeconfig_for(port, tokens_.nodes.at(node));
  const auto found = identities_.find(node);
  return guest::kubeconfig_through(*settings_.host, port,
                                   found == identities_.end() ? tls::Identity() : found->second);
}

std::string ControlPlane::kubeconfig_for(std::uint16_t port, const std::string& token) const {
  return kubeconfig(port, token, ca_file().string());
}

std::filesystem::path ControlPlane::ca_file() const {
  if (kube_) return kube_->ca_file();
  return settings_.tls ? settings_.data / "tls" / "ca.crt" : std::filesystem::path();
}

std::filesystem::path ControlPlane::kubelet_client_ca() const {
  if (settings_.host) return {};
  return (kube_ ? settings_.data : settings_.data / "apiserver") / "kubelet" / kubelet_ca_file;
}

Status ControlPlane::spawn_server() {
  if (kube_) return spawn_kube_server();
  Flags flags = {{"listen", address().text()},
                 {"data", (settings_.data / "apiserver").string()},
                 {"controllers", "true"},
                 {"scheduler", settings_.cloud_schedules ? "false" : "true"},
                 {"audit-log-path", audit_log().string()},
                 {"token-file", (settings_.data / "tokens").string()}};
  if (settings_.tls) flags.emplace_back("tls-dir", (settings_.data / "tls").string());
  auto arguments = as_arguments(flags);
  arguments.insert(arguments.begin(), "apiserver");
  TRY([[maybe_unused]] const auto started,
      children_.start(server_child, "holdfast-lab", std::move(arguments)));
  return {};
}

asio::awaitable<Status> ControlPlane::wait_for_server() {
  const auto address = co_await children_.logged(server_child, "apiserver listening", "address",
                                                 clock_.mono() + server_start_limit);
  if (!address) co_return fail("API server", address.error());
  const auto port = parse_int<std::uint16_t>(address->substr(address->rfind(':') + 1));
  if (!port) co_return fail(Errc::invalid, "API server: no port: " + *address);
  port_ = *port;
  Status done;
  co_return done;
}

asio::awaitable<Status> ControlPlane::admit(std::string node) {
  Status done;
  if (!settings_.host || !settings_.host->access.tls) co_return done;
  const std::string named = settings_.host->guest.name(node);
  CO_TRY(identities_[node],
         co_await guest::certificate_of(*settings_.host, *client_, clock_, named));
  co_return done;
}

asio::awaitable<Status> ControlPlane::start_server() {
  if (settings_.host) {
    CO_TRY(client_, guest::client_of(*settings_.host, clock_));
    Status connected;
    co_return connected;
  }
  Status done = fs::atomic_write(settings_.data / "tokens", tokens_.file());
  if (!done) co_return done;
  if (!settings_.kubernetes.empty()) {
    CO_TRY(kube_, KubeServer::prepare(settings_.kubernetes, settings_.data, clock_.wall()));
    done = co_await start_kube();
  } else {
    done = spawn_server();
    if (done) done = co_await wait_for_server();
    if (done) done = open_client();
  }
  if (!done) co_return done;
  CO_TRY(cloud_link_, Link::open(executor_, address(), {}, {}));
  co_return fs::atomic_write(settings_.data / "cloud.kubeconfig",
                             kubeconfig_for(cloud_link_->port(), tokens_.admin));
}

Status ControlPlane::open_client() {
  const Status written = fs::atomic_write(admin_kubeconfig(), kubeconfig_for(port_, tokens_.admin));
  if (!written) return written;
  TRY(ClusterAccess access, read_kubeconfig(admin_kubeconfig().string()));
  TRY(client_, ApiClient::make(std::move(access), clock_, "holdfast-lab"));
  return {};
}

// ------------------------------------------------------------------------------------ Kubernetes

Status ControlPlane::spawn_kube_server() {
  TRY([[maybe_unused]] const auto started,
      children_.start(server_child, (kube_->bin / "kube-apiserver").string(),
                      as_arguments(kube_->apiserver_flags())));
  return {};
}

asio::awaitable<Status> ControlPlane::start_kube() {
  port_ = kube_->port;
  CO_TRY([[maybe_unused]] const auto etcd,
         children_.start("etcd", kube_->etcd.string(), as_arguments(kube_->etcd_flags())));
  Status done = spawn_kube_server();
  if (done) done = open_client();
  if (done) done = co_await wait_until_ready();
  if (!done) co_return done;
  CO_TRY([[maybe_unused]] const auto controllers,
         children_.start("controllers", (kube_->bin / "kube-controller-manager").string(),
                         as_arguments(kube_->controllers_flags(admin_kubeconfig()))));
  co_return done;
}

asio::awaitable<Status> ControlPlane::wait_until_ready() {
  const MonoTime limit = clock_.mono() + kube_start_limit;
  Status done;
  for (;;) {
    ApiRequest request{.target = "/readyz"};
    const auto answer =
        co_await client_->call(std::move(request), clock_.mono() + std::chrono::seconds(5));
    if (answer) co_return done;
    if (!children_.is_alive(server_child) || !children_.is_alive("etcd")) {
      co_return fail(Errc::unavailable, "kube-apiserver or etcd has ended; see its log");
    }
    if (clock_.mono() >= limit) co_return fail("kube-apiserver", answer.error());
    co_await loop::wait_for(ready_poll);
  }
}

// ----------------------------------------------------------------------------- starting, stopping

Status ControlPlane::spawn_cloud() {
  Flags flags = settings_.cloud;
  flags.emplace_back("kubeconfig", (settings_.data / "cloud.kubeconfig").string());
  flags.emplace_back("secure-port", "0");
  if (!has(flags, "controllers")) flags.emplace_back("controllers", "*,scheduler");
  if (settings_.cloud_schedules && !has(flags, "scheduler-name")) {
    flags.emplace_back("scheduler-name", "default-scheduler");
  }
  TRY([[maybe_unused]] const auto started,
      children_.start(cloud_child, "holdfast-cloud", as_arguments(flags)));
  return {};
}

asio::awaitable<Status> ControlPlane::start_cloud() {
  Status done;
  if (settings_.host) co_return done;
  done = spawn_cloud();
  if (!done) co_return done;
  // holdfast-cloud logs this once it has received everything and acts.
  const auto acts = co_await children_.logged(cloud_child, "started", "nodes",
                                              clock_.mono() + server_start_limit);
  if (!acts) co_return fail("holdfast-cloud", acts.error());
  co_return done;
}

void ControlPlane::kill(Process process) { children_.kill(child_of(process)); }

asio::awaitable<Status> ControlPlane::restart(Process process) {
  Status done;
  if (children_.is_alive(child_of(process))) co_return done;
  if (process == Process::cloud) co_return spawn_cloud();
  done = spawn_server();
  if (done && kube_) {
    done = co_await wait_until_ready();
  } else if (done) {
    done = co_await wait_for_server();
  }
  co_return done;
}

void ControlPlane::pause(Process process) { children_.signal(child_of(process), SIGSTOP); }

void ControlPlane::resume(Process process) { children_.signal(child_of(process), SIGCONT); }

asio::awaitable<void> ControlPlane::stop() {
  if (cloud_link_) co_await cloud_link_->stop();
}

}  // namespace holdfast::agent::lab::cluster
