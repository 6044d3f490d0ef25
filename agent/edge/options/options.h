// The settings of holdfast-edge in one struct. Flags and keys of the YAML file have the same names;
// add_options() has their help texts.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/edge/options/filter_options.h"
#include "agent/edge/options/identity_options.h"
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
  bool allow_insecure_bind = false;              // allows a `listen` address beyond loopback
  std::string admin_listen = "127.0.0.1:10267";  // health, metrics, state
  std::string log_level = "info";
  // The kubelet's staticPodPath, for upgrades over the air. The default is YurtHub's.
  std::string static_pod_path = "/etc/kubernetes/manifests";

  // Components whose reads are cached, by the user agent up to '/'; "*" for all.
  std::vector<std::string> cache_agents = {"kubelet",      "kube-proxy",     "flanneld",
                                           "coredns",      "raven-agent-ds", "yurttunnel-agent",
                                           "holdfast-node"};
  // Users that act as the node on loopback without credentials.
  std::vector<std::string> allowed_uids = {"0"};
  // Also processes in containers (hostNetwork) with an allowed uid.
  bool trust_host_network_pods = false;
  // File with a bearer token by which callers on loopback act as the node; created if it is
  // missing, "" for none. With `require_node_token`, an allowed uid alone does not act as the node.
  std::string node_token_file;
  bool require_node_token = false;

  Duration read_deadline = 2s;    // for a local read that asks the cloud
  Duration write_deadline = 10s;  // for a write that only the cloud can accept
  Duration lease_duration = 40s;  // of the node's lease
  Duration lease_renew_interval = 10s;
  Duration kubelet_grace = 40s;  // a kubelet inactive for longer counts as dead; 0: never
  Duration probe_deadline = 1s;
  Duration probe_backoff_min = 1s;
  Duration probe_backoff_max = 30s;
  Duration rejoin_jitter = 3s;   // a rejoin starts after a random delay up to this
  Duration flush_interval = 2s;  // changes of the cache are written this often
  Duration bookmark_interval = 60s;
  int scopes_max = 500;
  // In bytes; see cache/cache_limits.h.
  std::int64_t list_bytes_max = 8 << 20;
  std::int64_t cache_memory_max = 24 << 20;
  std::int64_t cache_disk_max = 128 << 20;
  Duration housekeeping_interval = 1h;
  sync::autonomy::HousekeepingLimits housekeeping;
  IdentityOptions identity;
  FilterOptions filters;

  std::string lb_mode = "rr";  // several servers: "rr" (round robin) or "priority" (first healthy)

  // Bytes per second upstream; see sync::autonomy::parse_byte_rates(). Empty: no limit.
  std::vector<std::string> uplink_budget;
};

void add_options(config::Options& options, EdgeOptions& settings);

// Checks all settings. Errors: invalid, naming the flag.
[[nodiscard]] Status check(const EdgeOptions& settings);

// Makes all paths in the settings absolute. Call it once, before anything uses them. Errors:
// unavailable (there is no working directory).
[[nodiscard]] Status make_paths_absolute(EdgeOptions& settings);

}  // namespace holdfast::agent
