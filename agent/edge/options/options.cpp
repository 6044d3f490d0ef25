#include "agent/edge/options/options.h"

#include <algorithm>
#include <filesystem>

#include "platform/net/transport.h"
#include "platform/text.h"
#include "sync/autonomy/byte_budget.h"
#include "sync/autonomy/server_pool.h"
#include "sync/objects/name.h"

namespace holdfast::agent {

void add_options(config::Options& options, EdgeOptions& settings) {
  options.add("node-name", settings.node_name, "name of this node (required)");
  add_options(options, settings.identity);
  add_options(options, settings.filters);
  options.add("lb-mode", settings.lb_mode,
              "order in which several --server are used: rr (round robin) or priority (the first "
              "healthy one)");
  options.add("data-dir", settings.data_dir, "directory of the cache, the outbox and the journal");
  options.add("listen", settings.listen, "address of the local API proxy");
  options.add("allow-insecure-bind", settings.allow_insecure_bind,
              "allow --listen beyond loopback, where others can read its callers' tokens");
  options.add("admin-listen", settings.admin_listen,
              "address of the health, metrics and state pages");
  options.add("static-pod-path", settings.static_pod_path,
              "the kubelet's folder of static pods; their manifests can be upgraded over the air");
  options.add("log-level", settings.log_level, "debug, info, warn, error or off");
  options.add("cache-agents", settings.cache_agents,
              "user agents whose reads are cached; * for all");
  options.add("allowed-uids", settings.allowed_uids,
              "users (uids) that act as the node on loopback without credentials");
  options.add("trust-host-network-pods", settings.trust_host_network_pods,
              "also accept such users in containers on the host's network");
  options.add("node-token-file", settings.node_token_file,
              "file with a token by which callers act as the node; created if it is missing");
  options.add("require-node-token", settings.require_node_token,
              "only callers with that token act as the node; for nodes whose pods' authors could "
              "make the kubelet or the container runtime connect to the node itself");
  options.add("read-deadline", settings.read_deadline,
              "how long a local read waits for the cloud before it is answered from the cache");
  options.add("write-deadline", settings.write_deadline,
              "how long a write that only the cloud can accept waits for the cloud");
  options.add("lease-duration", settings.lease_duration, "duration of the node's lease");
  options.add("lease-renew-interval", settings.lease_renew_interval,
              "how often the node's lease is renewed");
  options.add(
      "kubelet-grace", settings.kubelet_grace,
      "how long the kubelet may be inactive before its lease is no longer renewed; 0: for ever");
  options.add(
      "probe-deadline", settings.probe_deadline,
      "time limit of one probe of the cloud on a quick path; on a slow one more, up to 10 s");
  options.add("probe-backoff-min", settings.probe_backoff_min,
              "least pause between probes while offline");
  options.add("probe-backoff-max", settings.probe_backoff_max,
              "longest pause between probes while offline");
  options.add("rejoin-jitter", settings.rejoin_jitter,
              "a rejoin starts after a random delay of up to this");
  options.add("flush-interval", settings.flush_interval,
              "how often changes of the cache are written to disk");
  options.add("bookmark-interval", settings.bookmark_interval,
              "how often local watches without events get a bookmark");
  options.add("scopes-max", settings.scopes_max,
              "most cached lists; requests beyond it are forwarded");
  options.add(
      "list-bytes-max", settings.list_bytes_max,
      "most bytes of one cached list in memory, half of it for callers with their own "
      "credentials, and of an answer that is filtered; a larger list of the node's is kept on "
      "disk, others are passed through");
  options.add("cache-memory-max", settings.cache_memory_max,
              "most bytes of all cached lists in memory; the node's own have priority");
  options.add("cache-disk-max", settings.cache_disk_max, "most bytes of cache.db and its log");
  options.add("housekeeping-interval", settings.housekeeping_interval,
              "how often unused entries of the cache are dropped");
  options.add("scope-ttl", settings.housekeeping.unused,
              "drop a cached list that was not requested for this long, while connected");
  options.add("orphaned-scope-ttl", settings.housekeeping.orphaned,
              "drop a Secret or ConfigMap that no pod of the node has used for this long");
  options.add("uplink-budget", settings.uplink_budget,
              "bytes per second upstream, except heartbeats: 64KiB/s for all, or for a class, as "
              "relist=32KiB/s; classes: relist, reads, writes, events");
  for (const char* name : {"runtime", "status-interval", "node-labels"}) {
    options.retire(name, "holdfast-edge runs no pods: start holdfast-node, which has this flag");
  }
}

Status make_paths_absolute(EdgeOptions& settings) {
  IdentityOptions& identity = settings.identity;
  for (std::string* path :
       {&settings.data_dir, &settings.static_pod_path, &settings.node_token_file,
        &identity.kubeconfig, &identity.bootstrap_kubeconfig, &identity.join_token_file,
        &identity.ca_file, &identity.cache_key_file}) {
    if (path->empty()) continue;
    std::error_code ec;
    const std::filesystem::path absolute = std::filesystem::absolute(*path, ec);
    if (ec) return fail(Errc::unavailable, "absolute path of " + *path, ec);
    *path = absolute.lexically_normal().string();
  }
  return {};
}

namespace {

Status check_listeners(const EdgeOptions& settings) {
  auto proxy = net::HostPort::parse(settings.listen);
  if (!proxy) return fail("--listen", proxy.error());
  auto admin = net::HostPort::parse(settings.admin_listen);
  if (!admin) return fail("--admin-listen", admin.error());
  if (settings.allow_insecure_bind || proxy->is_loopback()) return {};
  return fail(Errc::invalid, "--listen " + settings.listen +
                                 " needs --allow-insecure-bind: it is plain HTTP, and others could "
                                 "read the tokens of its callers; --secure-listen has TLS");
}

}  // namespace

Status check(const EdgeOptions& settings) {
  const auto bad = [](std::string what) { return fail(Errc::invalid, std::move(what)); };
  if (settings.node_name.empty()) return bad("--node-name is required");
  if (const auto reasons = sync::objects::check_dns1123_subdomain(settings.node_name);
      !reasons.empty()) {
    return bad("--node-name: \"" + settings.node_name + "\": " + reasons.front());
  }
  if (auto good = check(settings.identity); !good) return good;
  if (auto good = check(settings.filters); !good) return good;
  if (auto rates = sync::autonomy::parse_byte_rates(settings.uplink_budget); !rates) {
    return fail("--uplink-budget", rates.error());
  }
  if (!sync::autonomy::parse_lb_mode(settings.lb_mode)) {
    return bad("--lb-mode: \"" + settings.lb_mode + "\" is neither rr nor priority");
  }
  if (auto good = check_listeners(settings); !good) return good;
  if (settings.require_node_token && settings.node_token_file.empty()) {
    return bad("--require-node-token needs --node-token-file");
  }
  for (const std::string& uid : settings.allowed_uids) {
    if (!parse_int<std::uint32_t>(uid)) return bad("--allowed-uids: \"" + uid + "\" is not a uid");
  }
  const std::pair<const char*, Duration> positive[] = {
      {"--read-deadline", settings.read_deadline},
      {"--write-deadline", settings.write_deadline},
      {"--lease-duration", settings.lease_duration},
      {"--lease-renew-interval", settings.lease_renew_interval},
      {"--probe-deadline", settings.probe_deadline},
      {"--probe-backoff-min", settings.probe_backoff_min},
      {"--flush-interval", settings.flush_interval},
      {"--bookmark-interval", settings.bookmark_interval},
      {"--housekeeping-interval", settings.housekeeping_interval},
      {"--scope-ttl", settings.housekeeping.unused},
      {"--orphaned-scope-ttl", settings.housekeeping.orphaned},
  };
  for (const auto& [flag, value] : positive) {
    if (value <= Duration::zero()) return bad(std::string(flag) + " must be positive");
  }
  if (settings.kubelet_grace < Duration::zero()) return bad("--kubelet-grace is negative");
  if (settings.lease_renew_interval >= settings.lease_duration) {
    return bad("--lease-renew-interval must be below --lease-duration");
  }
  if (settings.probe_backoff_max < settings.probe_backoff_min) {
    return bad("--probe-backoff-max must not be below --probe-backoff-min");
  }
  constexpr std::int64_t least = 1 << 20;
  for (const auto& [flag, value] : {std::pair{"--list-bytes-max", settings.list_bytes_max},
                                    std::pair{"--cache-memory-max", settings.cache_memory_max},
                                    std::pair{"--cache-disk-max", settings.cache_disk_max}}) {
    if (value < least) return bad(std::string(flag) + " must be at least 1048576");
  }
  if (settings.scopes_max < 1) return bad("--scopes-max must be positive");
  return {};
}

}  // namespace holdfast::agent
