// Reads a kubeconfig: which API server, and who we are to it.
//
// Understood: contexts, cluster server, certificate-authority(-data), insecure-skip-tls-verify,
// tls-server-name; user client-certificate(-data), client-key(-data), token, tokenFile. Relative
// file names are taken from the kubeconfig's own folder. Exec plugins, auth providers and
// passwords are refused by name: an edge box has no helper programs to run.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/http/client.h"
#include "platform/proc/notify.h"
#include "platform/result.h"

namespace holdfast::agent {

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

// "http://host" (port 80) or "https://host:port/prefix" (port 443). Errors: invalid, naming the
// text.
[[nodiscard]] Result<ServerUrl> parse_server_url(std::string_view url);

struct ClusterAccess {
  bool tls = false;
  net::HostPort server;
  std::string path_prefix;            // as ServerAddress has it
  std::vector<ServerAddress> others;  // more servers of the same cluster, after the first one
  tls::ClientSettings tls_settings;
  std::string token;
  std::string token_file;  // read again as it changes; wins over `token`
  std::string namespace_name;
  // Who else may read the files that the credentials are in; see fs::read_foreign_secret().
  std::vector<std::string> exposed_files;

  // Of all servers, the first one first. Errors: invalid (a certificate or key that OpenSSL
  // refuses).
  [[nodiscard]] Result<std::vector<http::Endpoint>> endpoints() const;
  // Whether servers are authenticated by TLS certificates: an answer is then the API server's, or
  // that of a load balancer which was given the certificate's key.
  [[nodiscard]] bool verifies_servers() const { return tls && !tls_settings.insecure; }
  // The first server and then `others`.
  [[nodiscard]] std::vector<ServerAddress> servers() const;
};

// `context` empty means current-context.
// Errors: not_found or denied (a file; also one that everybody may write to), invalid, naming the
// file and the entry that is wrong.
[[nodiscard]] Result<ClusterAccess> read_kubeconfig(const std::string& file,
                                                    std::string_view context = {});

// What is unsafe about the access, one sentence each: files that others may read, a server that is
// not verified, and credentials that are sent unencrypted. The sentences contain no secrets.
[[nodiscard]] std::vector<std::string> warnings_about(const ClusterAccess& access);
// Logs each of these sentences as a warning. Programs call it once, at their start.
void log_warnings_about(const ClusterAccess& access);

// How a pod reaches its own cluster: KUBERNETES_SERVICE_HOST and _PORT, and the service account's
// token and certificate authority in `folder`.
// Errors: not_found when this is no pod; not_found or denied (a file).
[[nodiscard]] Result<ClusterAccess> in_cluster_access(
    const proc::Environment& environment,
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace holdfast::agent
