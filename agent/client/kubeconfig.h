// Reads a kubeconfig: the addresses of the API server and the credentials for it.
//
// kubeconfig_fields.h lists what is supported. Relative file names are resolved against the
// kubeconfig's own folder. What is not supported is rejected with an error that names it; fields
// that Kubernetes does not know either are logged and ignored, as client-go ignores them.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/http/client.h"
#include "platform/proc/notify.h"
#include "platform/proxy/rules.h"
#include "platform/result.h"

namespace holdfast::agent {

class CredentialPlugin;

// One address of a cluster's API.
struct ServerAddress {
  net::HostPort at;
  std::string path_prefix = {};  // of the URL, without a trailing slash: "" or "/clusters/a"

  bool operator==(const ServerAddress&) const = default;
};

struct ServerUrl {
  bool tls = false;
  ServerAddress server;
};

// Parses "http://host" (default port 80) or "https://host:port/prefix" (default port 443). Errors:
// invalid, naming the text.
[[nodiscard]] Result<ServerUrl> parse_server_url(std::string_view url);

struct ClusterAccess {
  bool tls = false;
  net::HostPort server;
  std::string path_prefix;            // see ServerAddress
  std::vector<ServerAddress> others;  // more servers of the same cluster, after the first one
  // The proxy of the kubeconfig for all servers; it may contain a password. "": as `environment`
  // says.
  std::string proxy_url;
  proxy::Rules environment;  // empty unless the program sets it
  tls::ClientSettings tls_settings;
  std::string token;
  std::string token_file;  // read again every minute; takes precedence over `token`
  // Gives a token or a client certificate in place of those here; null: none. Copies share it.
  std::shared_ptr<CredentialPlugin> plugin;
  bool disable_compression = false;  // of answers
  std::string namespace_name;
  // One sentence for each credentials file that other users may read; see
  // fs::read_foreign_secret().
  std::vector<std::string> exposed_files;
  std::vector<std::string> unknown_fields;  // of the kubeconfig: "FILE: user: tokn"

  // One endpoint per server, in the order of servers(). Errors: invalid (a certificate or key that
  // OpenSSL rejects, the URL of a proxy).
  [[nodiscard]] Result<std::vector<http::Endpoint>> endpoints() const;
  // The proxy for requests to this server, and the setting that selects it: "proxy-url" or the name
  // of a variable.
  [[nodiscard]] proxy::Rules::Choice proxy_for(const ServerAddress& to) const;
  // Whether servers are authenticated by TLS certificates. If so, an answer comes from the API
  // server or from a load balancer that holds the certificate's key.
  [[nodiscard]] bool verifies_servers() const { return tls && !tls_settings.insecure; }
  // Whether both have the same plug-in, or none.
  [[nodiscard]] bool has_same_plugin(const ClusterAccess& other) const;
  // `server`, then `others`.
  [[nodiscard]] std::vector<ServerAddress> servers() const;
};

// Reads `context` of the kubeconfig; "" means its current-context. Errors: not_found; denied (a
// file, also one that everybody may write to); invalid, naming the file and the wrong entry.
[[nodiscard]] Result<ClusterAccess> read_kubeconfig(const std::string& file,
                                                    std::string_view context = {});

// Describes what is unsafe about the access, one sentence each: files that others may read, a
// server that is not verified, credentials that are sent unencrypted. The sentences contain no
// secrets.
[[nodiscard]] std::vector<std::string> warnings_about(const ClusterAccess& access);
// Logs each of these sentences as a warning, and through which proxy the servers are reached, if
// through one. Programs call it once at their start.
void log_warnings_about(const ClusterAccess& access);

// The access of a pod to its own cluster: KUBERNETES_SERVICE_HOST and _PORT from `environment`, and
// the service account's token and certificate authority in `folder`. Errors: not_found if the
// process does not run in a pod; not_found or denied (a file).
[[nodiscard]] Result<ClusterAccess> in_cluster_access(
    const proc::Environment& environment,
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace holdfast::agent
