#include "agent/node/options.h"

#include <filesystem>

#include "sync/objects/name.h"

namespace holdfast::agent::node {

void add_options(config::Options& options, NodeOptions& settings) {
  options.add("node-name", settings.node_name, "name of this node (required)");
  options.add("server", settings.server,
              "URL of the API, as the edge agent serves it on this machine (default: " +
                  std::string(default_server) + ")");
  options.add("kubeconfig", settings.kubeconfig,
              "file with the API's URL and credentials, in place of --server");
  options.add("data-dir", settings.data_dir,
              "directory for the records and logs of the containers");
  options.add("runtime", settings.runtime,
              "container runtime: process (plain local processes, for labs and tests)");
  options.add(
      "pod-selector", settings.pod_selector,
      "label selector of the pods to run; all others that are bound to the node are ignored");
  options.add("node-labels", settings.node_labels, "labels to register the node with: a=b,c=d");
  options.add("node-capacity", settings.node_capacity,
              "capacity to report in place of the machine's: cpu=4,memory=4Gi,pods=110");
  options.add("kubelet-listen", settings.kubelet_listen,
              "address and port for kubectl's logs, exec and port-forward, which the API server "
              "sends; served with --client-ca-file only; port 0 picks a free one");
  options.add("kubelet-advertise", settings.kubelet_advertise,
              "address and port at which the API server reaches --kubelet-listen, if they differ");
  options.add("client-ca-file", settings.client_ca_file,
              "file with the certificate authority of the API server's client certificate, which "
              "must be for kube-apiserver-kubelet-client or the group system:masters");
  options.add("tls-cert-file", settings.tls_cert_file,
              "file with the certificate for --kubelet-listen (default: a self-signed one)");
  options.add("tls-private-key-file", settings.tls_private_key_file, "file with its key");
  options.add("status-interval", settings.status_interval,
              "how often the node's status is checked, and posted if it has changed");
  options.add("lease-duration", settings.lease_duration, "duration of the node's lease");
  options.add("lease-renew-interval", settings.lease_renew_interval,
              "how often the node's lease is renewed");
  options.add("restart-backoff", settings.restart_backoff,
              "pause before a container that has ended twice is started again; doubled each time");
  options.add("restart-backoff-max", settings.restart_backoff_max, "longest such pause");
  options.add("restart-backoff-reset", settings.restart_backoff_reset,
              "how long a container must have run for its next pause to be the first again");
  options.add("log-level", settings.log_level, "debug, info, warn, error or off");
}

Status check(const NodeOptions& settings) {
  const auto bad = [](std::string what) { return fail(Errc::invalid, std::move(what)); };
  if (settings.node_name.empty()) return bad("--node-name is required");
  if (const auto reasons = sync::objects::check_dns1123_subdomain(settings.node_name);
      !reasons.empty()) {
    return bad("--node-name: \"" + settings.node_name + "\": " + reasons.front());
  }
  if (!settings.server.empty() && !settings.kubeconfig.empty()) {
    return bad("--server and --kubeconfig exclude each other: a kubeconfig names its own server");
  }
  if (settings.runtime != "process") {
    return bad("--runtime: \"" + settings.runtime +
               "\" is not known; the only runtime so far is process");
  }
  if (settings.data_dir.empty()) return bad("--data-dir is empty");
  if (settings.tls_cert_file.empty() != settings.tls_private_key_file.empty()) {
    return bad("--tls-cert-file and --tls-private-key-file belong together");
  }
  if (auto good = kubelet_addresses(settings); !good) return fail(good.error());
  for (const auto& [flag, value] :
       {std::pair{"--status-interval", settings.status_interval},
        std::pair{"--lease-duration", settings.lease_duration},
        std::pair{"--lease-renew-interval", settings.lease_renew_interval},
        std::pair{"--restart-backoff", settings.restart_backoff},
        std::pair{"--restart-backoff-reset", settings.restart_backoff_reset}}) {
    if (value <= Duration::zero()) return bad(std::string(flag) + " must be positive");
  }
  if (settings.restart_backoff_max < settings.restart_backoff) {
    return bad("--restart-backoff-max must not be below --restart-backoff");
  }
  if (settings.lease_renew_interval >= settings.lease_duration) {
    return bad("--lease-renew-interval must be below --lease-duration");
  }
  return {};
}

Result<KubeletAddresses> kubelet_addresses(const NodeOptions& settings) {
  auto listen = net::HostPort::parse(settings.kubelet_listen);
  if (!listen) return fail("--kubelet-listen", listen.error());
  if (settings.kubelet_advertise.empty()) return KubeletAddresses{*listen, {listen->host, 0}};
  auto advertise = net::HostPort::parse(settings.kubelet_advertise);
  if (!advertise) return fail("--kubelet-advertise", advertise.error());
  if (advertise->port == 0) {
    return fail(Errc::invalid, "--kubelet-advertise: \"" + settings.kubelet_advertise +
                                   "\" must have a port that is not 0");
  }
  return KubeletAddresses{*listen, *advertise};
}

Status make_paths_absolute(NodeOptions& settings) {
  for (std::string* path : {&settings.data_dir, &settings.kubeconfig, &settings.client_ca_file,
                            &settings.tls_cert_file, &settings.tls_private_key_file}) {
    if (path->empty()) continue;
    std::error_code ec;
    const std::filesystem::path absolute = std::filesystem::absolute(*path, ec);
    if (ec) return fail(Errc::unavailable, "absolute path of " + *path, ec);
    *path = absolute.lexically_normal().string();
  }
  return {};
}

Result<ClusterAccess> api_access(const NodeOptions& settings) {
  if (!settings.kubeconfig.empty()) {
    auto access = read_kubeconfig(settings.kubeconfig);
    if (!access) return fail("--kubeconfig", access.error());
    access->environment = settings.proxies;
    return access;
  }
  const std::string url = settings.server.empty() ? std::string(default_server) : settings.server;
  auto server = parse_server_url(url);
  if (!server) return fail("--server", server.error());
  ClusterAccess access;
  access.tls = server->tls;
  access.server = server->server.at;
  access.path_prefix = server->server.path_prefix;
  access.environment = settings.proxies;
  return access;
}

}  // namespace holdfast::agent::node
