// The settings of holdfast-node. Flags and the YAML file have the same names.

#pragma once

#include <chrono>
#include <string>

#include "agent/client/kubeconfig.h"
#include "platform/config/options.h"
#include "platform/proxy/rules.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::agent::node {

struct NodeOptions {
  std::string node_name;  // required
  std::string data_dir = "/var/lib/holdfast-node";
  std::string server;      // URL of the edge agent's proxy; empty: default_server or the kubeconfig
  std::string kubeconfig;  // in place of `server`
  std::string runtime = "process";
  std::string pod_selector;   // label selector: pods that do not match are not run; empty: all
  std::string node_labels;    // "a=b,c=d"
  std::string node_capacity;  // "cpu=4,memory=4Gi,pods=110"; of what is missing, the machine's
  // Where the kubelet's API is served for `kubectl logs` and the like, if there is an authority
  // that says who the API server is; port 0 picks a free one.
  std::string kubelet_listen = "127.0.0.1:10250";
  std::string kubelet_advertise;  // what the Node says about it; empty: where it listens
  std::string client_ca_file;     // empty: it is not served
  std::string tls_cert_file;      // with tls_private_key_file; empty: a self-signed certificate
  std::string tls_private_key_file;
  std::string log_level = "info";
  Duration status_interval = std::chrono::seconds(10);       // the kubelet's default
  Duration lease_duration = std::chrono::seconds(40);        // the same
  Duration lease_renew_interval = std::chrono::seconds(10);  // the same
  // Of containers that end: the first pause, the longest, and how long one must have run for the
  // next pause to be the first again. Kubelet's values.
  Duration restart_backoff = std::chrono::seconds(10);
  Duration restart_backoff_max = std::chrono::minutes(5);
  Duration restart_backoff_reset = std::chrono::minutes(10);
  proxy::Rules proxies;  // of the environment; not a flag
};

// The edge agent's default --listen.
inline constexpr std::string_view default_server = "http://127.0.0.1:10261";

void add_options(config::Options& options, NodeOptions& settings);

// Errors: invalid, naming the flag.
[[nodiscard]] Status check(const NodeOptions& settings);

// The addresses of --kubelet-listen and --kubelet-advertise.
struct KubeletAddresses {
  net::HostPort listen;
  net::HostPort advertise;  // its port is 0 if it is that of the listener
};
// Errors: invalid, naming the flag.
[[nodiscard]] Result<KubeletAddresses> kubelet_addresses(const NodeOptions& settings);

// Makes every path in the settings absolute. Called once, before anything uses them: containers and
// their shims have other working directories than this program.
// Errors: unavailable (there is no working directory).
[[nodiscard]] Status make_paths_absolute(NodeOptions& settings);

// The API that the node is a client of. Errors: as read_kubeconfig() and parse_server_url(), naming
// the flag.
[[nodiscard]] Result<ClusterAccess> api_access(const NodeOptions& settings);

}  // namespace holdfast::agent::node
