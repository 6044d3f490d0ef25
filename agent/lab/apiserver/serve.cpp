#include "agent/lab/apiserver/serve.h"

#include <boost/asio/this_coro.hpp>

#include "agent/lab/apiserver/apiserver.h"
#include "agent/lab/apiserver/kubelet_dir.h"
#include "agent/lab/apiserver/serve_kubeconfig.h"
#include "agent/lab/apiserver/tls_dir.h"
#include "platform/fs/ownership.h"
#include "platform/http/server.h"
#include "platform/log.h"
#include "platform/loop/randomness.h"
#include "platform/loop/tasks.h"
#include "platform/net/transport.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::size_t token_file_max = 1UL << 20;
constexpr std::size_t pem_file_max = 1UL << 20;
constexpr std::size_t connections_max = 4000;  // each node holds some dozens of watches
constexpr std::size_t requests_bytes_max = 256UL << 20;

http::ServerLimits server_limits() {
  http::ServerLimits limits;
  limits.reader.body_bytes = body_bytes_max;
  limits.shares = {.connections = connections_max, .bytes = requests_bytes_max};
  return limits;
}

bool is_local(const net::HostPort& at) { return at.host == "localhost" || at.is_loopback(); }

Result<KubeletAccess> kubelet_access(const ServeSettings& settings, WallTime now) {
  KubeletAccess access;
  if (!settings.kubelet_certificate_authority.empty()) {
    auto ca = fs::read_all(settings.kubelet_certificate_authority, pem_file_max);
    if (!ca) return fail("--kubelet-certificate-authority", ca.error());
    access.ca_pem = *std::move(ca);
  }
  if (settings.kubelet_client_certificate.empty() && settings.kubelet_client_key.empty()) {
    auto made = open_kubelet_dir(fs::Path(settings.data) / "kubelet", now);
    if (!made) return fail("--data", made.error());
    access.identity = *std::move(made);
    return access;
  }
  auto certificate = fs::read_all(settings.kubelet_client_certificate, pem_file_max);
  if (!certificate) return fail("--kubelet-client-certificate", certificate.error());
  auto key = fs::read_foreign_secret(settings.kubelet_client_key, pem_file_max);
  if (!key) return fail("--kubelet-client-key", key.error());
  if (!key->warning.empty()) log_warn("unsafe --kubelet-client-key", {{"problem", key->warning}});
  access.identity = {*std::move(certificate), std::move(key->bytes)};
  return access;
}

struct ServerParts {
  std::unique_ptr<net::Listener> listener;
  std::unique_ptr<ApiServer> server;
};

Result<ServerParts> prepare(const ServeSettings& settings, const asio::any_io_executor& executor,
                            const Clock& clock) {
  TRY(const net::HostPort at, net::HostPort::parse(settings.listen));
  if (auto safe = check_listener(at, settings); !safe) {
    return fail(safe.error());
  }
  TlsDir tls;
  if (!settings.tls_dir.empty()) {
    TRY(tls, open_tls_dir(settings.tls_dir, at.host, clock.wall()));
  }
  TRY(std::unique_ptr<net::Listener> listener, net::Listener::open(executor, at, tls.context));
  ApiServerOptions options;
  options.data = settings.data;
  options.address = net::HostPort{at.host, listener->port()}.text();
  options.audit_log = settings.audit_log_path;
  options.refuses_anonymous = options.requires_identity = !is_local(at);
  options.rbac = settings.rbac;
  options.registry.durable = settings.durable;
  options.node_authorizer = settings.node_authorizer;
  options.controllers = settings.controllers;
  options.scheduler = settings.scheduler;
  KubeconfigAccess access{
      .listener = {at.host, listener->port()}, .ca_pem = tls.ca_pem, .authority = tls.authority};
  options.ca_pem = tls.ca_pem;
  options.authority = std::move(tls.authority);
  options.certificate_lifetime = settings.certificate_lifetime;
  if (!settings.token_file.empty()) {
    TRY(fs::ForeignSecret tokens, fs::read_foreign_secret(settings.token_file, token_file_max));
    if (!tokens.warning.empty()) log_warn("unsafe --token-file", {{"problem", tokens.warning}});
    options.tokens = access.tokens = std::move(tokens.bytes);
  }
  if (auto made = fs::ensure_own_dir(settings.data); !made) return fail("--data", made.error());
  TRY(options.kubelets, kubelet_access(settings, clock.wall()));
  const std::string address = options.address;
  TRY(std::unique_ptr<ApiServer> server,
      ApiServer::open(executor, clock, loop::make_random(executor), std::move(options)));
  if (!settings.kubeconfig.empty()) {
    if (auto written = write_kubeconfig(settings.kubeconfig, access, clock.wall()); !written) {
      return fail(written.error());
    }
  }
  log_info("apiserver listening", {{"address", address}, {"tls", !settings.tls_dir.empty()}});
  return ServerParts{std::move(listener), std::move(server)};
}

}  // namespace

void add_serve_options(config::Options& options, ServeSettings& settings) {
  options.add("listen", settings.listen, "address and port to listen on");
  options.add("data", settings.data, "directory of the database");
  options.add(
      "durable", settings.durable,
      "each write survives a power cut; false: the last ones may be lost in one, but not by "
      "the end of the process");
  options.add("tls-dir", settings.tls_dir,
              "directory with server.crt, server.key, ca.crt for client certificates and ca.key to "
              "sign nodes' certificates; if it is empty they are created");
  options.add("kubelet-client-certificate", settings.kubelet_client_certificate,
              "file with the certificate that kubelets are shown for kubectl's logs, exec and "
              "port-forward (default: one that is made in --data, whose authority is "
              "kubelet/ca.crt there, for holdfast-node --client-ca-file)");
  options.add("kubelet-client-key", settings.kubelet_client_key, "file with its key");
  options.add("kubelet-certificate-authority", settings.kubelet_certificate_authority,
              "file with the authority of the kubelets' own certificates (default: any "
              "certificate is accepted)");
  options.add("certificate-lifetime", settings.certificate_lifetime,
              "lifetime of signed certificates");
  options.add(
      "token-file", settings.token_file,
      "file with lines of token,user,uid,\"groups\"; without it every caller on loopback may do "
      "everything, and other addresses need --tls-dir");
  options.add(
      "rbac", settings.rbac,
      "roles and bindings decide what callers may do that are neither in system:masters nor "
      "nodes (authorization mode RBAC); false: they may do nothing if there are tokens");
  options.add(
      "node-authorizer", settings.node_authorizer,
      "limit callers with a token or certificate of system:node:NAME in the group system:nodes "
      "to the rights of a node in Kubernetes 1.36 (authorization modes Node,RBAC with "
      "NodeRestriction); false: nodes may read everything");
  options.add("write-kubeconfig", settings.kubeconfig,
              "file to write a kubeconfig to, for an administrator; it stays when the server ends");
  options.add("audit-log-path", settings.audit_log_path,
              "file to append one line per request to; empty: none");
  options.add(
      "controllers", settings.controllers,
      "run the built-in controllers: deployments, daemon sets, scheduling, garbage collection");
  options.add("scheduler", settings.scheduler,
              "with --controllers: schedule the pods of default-scheduler; false: leave them to "
              "holdfast-cloud --controllers=scheduler --scheduler-name=default-scheduler");
}

Status check_listener(const net::HostPort& at, const ServeSettings& settings) {
  const bool known = !settings.token_file.empty() || !settings.tls_dir.empty();
  if (settings.rbac && !known) {
    return fail(Errc::invalid,
                "--rbac needs to know who callers are: set --token-file, or --tls-dir for client "
                "certificates");
  }
  if (known || is_local(at)) return {};
  return fail(Errc::invalid,
              "--listen " + at.text() +
                  " is reachable from other machines, and every caller may do everything: set "
                  "--token-file, or --tls-dir for client certificates, or listen on 127.0.0.1");
}

asio::awaitable<Status> serve(ServeSettings settings, loop::Stop& stop, const Clock& clock) {
  const auto executor = co_await asio::this_coro::executor;
  CO_TRY(ServerParts parts, prepare(settings, executor, clock));
  http::Server http(executor, server_limits(), parts.server->handler(), reply_problem);
  http.listen(std::move(parts.listener));
  loop::Tasks tasks(executor);
  tasks.spawn("apiserver", parts.server->run());
  co_await stop.wait();
  // Ends the watches first: their connections would otherwise stay open until the deadline.
  parts.server->stop();
  const MonoTime deadline = clock.mono() + loop::drain_limit;
  co_await http.stop(deadline);
  tasks.cancel();
  co_await tasks.join();
  Status done;
  co_return done;
}

}  // namespace holdfast::agent::lab
