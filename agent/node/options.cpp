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
  options.add("node-labels", settings.node_labels, "labels to register the node with: a=b,c=d");
  options.add("status-interval", settings.status_interval,
              "how often the node's status is checked, and posted if it has changed");
  options.add("lease-duration", settings.lease_duration, "duration of the node's lease");
  options.add("lease-renew-interval", settings.lease_renew_interval,
              "how often the node's lease is renewed");
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
  for (const auto& [flag, value] :
       {std::pair{"--status-interval", settings.status_interval},
        std::pair{"--lease-duration", settings.lease_duration},
        std::pair{"--lease-renew-interval", settings.lease_renew_interval}}) {
    if (value <= Duration::zero()) return bad(std::string(flag) + " must be positive");
  }
  if (settings.lease_renew_interval >= settings.lease_duration) {
    return bad("--lease-renew-interval must be below --lease-duration");
  }
  return {};
}

Status make_paths_absolute(NodeOptions& settings) {
  for (std::string* path : {&settings.data_dir, &settings.kubeconfig}) {
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
    return access;
  }
  const std::string url = settings.server.empty() ? std::string(default_server) : settings.server;
  auto server = parse_server_url(url);
  if (!server) return fail("--server", server.error());
  ClusterAccess access;
  access.tls = server->tls;
  access.server = server->server.at;
  access.path_prefix = server->server.path_prefix;
  return access;
}

}  // namespace holdfast::agent::node
