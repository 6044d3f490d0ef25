// Where the cluster is, whom to believe that it is the cluster, and what to come with for the first
// certificate.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "agent/client/kubeconfig.h"
#include "agent/edge/identity/options.h"
#include "platform/time.h"

namespace holdfast::agent {

namespace asio = boost::asio;

// The values of --server.
struct ServerList {
  bool tls = true;
  std::vector<ServerAddress> servers = {};
};

// Each "https://host:port/prefix", "host:port" or "host" (port 6443, over TLS), or, for labs,
// "http://host:port". Errors: invalid, naming the text: not an address, twice the same one, with
// and without TLS.
[[nodiscard]] Result<ServerList> parse_servers(const std::vector<std::string>& texts);
// "sha256:<64 hexadecimal digits>" -> the digits, in lower case. Errors: invalid.
[[nodiscard]] Result<std::string> parse_ca_hash(std::string_view text);

// The servers, and the credentials of --kubeconfig or those to ask for a certificate with. Read
// anew at each call: files are replaced. With a pinned authority that is not known yet, `ca_pem` is
// empty and nothing but learn_authority() may be done. Errors: invalid, not_found, denied (a file).
[[nodiscard]] Result<ClusterAccess> read_access(const IdentityOptions& options);

// Puts those of --server, if there are any, in the place of a kubeconfig's. Errors: as
// parse_servers().
[[nodiscard]] Status override_servers(const IdentityOptions& options, ClusterAccess& access);

// Asks a server for the authority (kube-public/cluster-info) and believes it only if the hash is
// that of its key. Nothing secret is sent. `server` counts the tries: each asks another one.
// Errors: denied (another authority), the transport's.
asio::awaitable<Result<std::string>> learn_authority(const IdentityOptions& options,
                                                     const Clock& clock, MonoTime deadline,
                                                     std::size_t server);

// The authority out of a cluster-info document, checked. Errors: denied, invalid.
[[nodiscard]] Result<std::string> pinned_authority(std::string_view cluster_info,
                                                   std::string_view ca_hash);

}  // namespace holdfast::agent
