// holdfast-edge's settings, one documented struct; flags and the YAML file have the same names.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/edge/cache_limits.h"
#include "agent/edge/filters/options.h"
#include "agent/edge/identity/options.h"
#include "agent/edge/uplink_settings.h"
#include "platform/config/options.h"
#include "platform/result.h"
#include "platform/time.h"
#include "sync/autonomy/housekeeping.h"

namespace holdfast::agent {

using namespace std::chrono_literals;

struct EdgeOptions {
  std::string node_name;  // required
  std::string data_dir = "/var/lib/holdfast";
  std::string listen = "127.0.0.1:10261";        // the proxy
  bool allow_insecure_bind = false;              // the proxy may listen beyond loopback
  std::string admin_listen = "127.0.0.1:10267";  // health, metrics, state
  std::string log_level = "info";
  // The kubelet's staticPodPath, for upgrades over the air; the default is YurtHub's.
  std::string static_pod_path = "/etc/kubernetes/manifests";

  // Whose reads are cached, by the first word of the user agent up to '/'; "*" for all.
  std::vector<std::string> cache_agents = {"kubelet",      "kube-proxy",     "flanneld",
                                           "coredns",      "raven-agent-ds", "yurttunnel-agent",
                                           "holdfast-node"};
  // Who may call on loopback without credentials of his own.
  std::vector<std::string> allowed_uids = {"0"};
  // Processes in containers may do so, too, if they have an allowed uid (hostNetwork).
  bool trust_host_network_pods = false;
  // A secret by which callers on loopback act as the node, as a bearer token; made if the file is
  // missing. "" for none. If it is required, an allowed uid alone does not act as the node.
  std::string node_token_file;
  bool require_node_token = false;

  Duration read_deadline = 2s;    // a local read waits no longer for the cloud
  Duration write_deadline = 10s;  // a write that cannot be accepted here
  Duration lease_duration = 40s;  // of our node's lease
  Duration lease_renew_interval = 10s;
  Duration kubelet_grace = 40s;  // a kubelet that is silent for longer is dead; 0: never
  Duration probe_deadline = 1s;
  Duration probe_backoff_min = 1s;
  Duration probe_backoff_max = 30s;
  Duration rejoin_jitter = 3s;   // a rejoin waits up to this long, at random
  Duration flush_interval = 2s;  // updates of the cache are grouped for the flash's sake
  Duration bookmark_interval = 60s;
  int scopes_max = 500;
  // Bytes; see CacheLimits.
  std::int64_t list_bytes_max = 8 << 20;
  std::int64_t cache_memory_max = 24 << 20;
  std::int64_t cache_disk_max = 128 << 20;
  Duration housekeeping_interval = 1h;
  sync::HousekeepingLimits housekeeping;
  IdentityOptions identity;
  FilterOptions filters;

  std::string lb_mode = "rr";  // of several servers: "rr" in turn, "priority" the first one first

  // Bytes per second upstream: see sync::parse_byte_rates(). None: no limit.
  std::vector<std::string> uplink_budget;

  // Errors: invalid (the budget).
  [[nodiscard]] Result<UplinkSettings> uplink() const;
};

[[nodiscard]] CacheLimits cache_limits(const EdgeOptions& settings);

void add_options(config::Options& options, EdgeOptions& settings);

// Errors: invalid, naming the flag.
[[nodiscard]] Status check(const EdgeOptions& settings);

// Makes every path in the settings absolute. Called once, before anything uses them.
// Errors: unavailable (there is no working directory).
[[nodiscard]] Status make_paths_absolute(EdgeOptions& settings);

}  // namespace holdfast::agent
