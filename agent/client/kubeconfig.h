// Reads a kubeconfig: which API server, and who we are to it.
//
// Understood: contexts, cluster server, certificate-authority(-data), insecure-skip-tls-verify,
// tls-server-name; user client-certificate(-data), client-key(-data), token, tokenFile. Relative
// file names are taken from the kubeconfig's own folder. Exec plugins, auth providers and
// passwords are refused by name: an edge box has no helper programs to run.

#pragma once

#include <string>
#include <string_view>

#include "platform/http/client.h"
#include "platform/proc/notify.h"
#include "platform/result.h"

namespace holdfast::agent {

struct ClusterAccess {
  bool tls = false;
  net::HostPort server;
  std::string path_prefix;  // of the server's URL, without a trailing slash: "" or "/clusters/a"
  tls::ClientSettings tls_settings;
  std::string token;
  std::string token_file;  // read again as it changes; wins over `token`
  std::string namespace_name;

  // Errors: invalid (a certificate or key that OpenSSL refuses).
  [[nodiscard]] Result<http::Endpoint> endpoint() const;
};

// `context` empty means current-context.
// Errors: not_found or denied (a file), invalid, naming the file and the entry that is wrong.
[[nodiscard]] Result<ClusterAccess> read_kubeconfig(const std::string& file,
                                                    std::string_view context = {});

// How a pod reaches its own cluster: KUBERNETES_SERVICE_HOST and _PORT, and the service account's
// token and certificate authority in `folder`.
// Errors: not_found when this is no pod; not_found or denied (a file).
[[nodiscard]] Result<ClusterAccess> in_cluster_access(
    const proc::Environment& environment,
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace holdfast::agent
