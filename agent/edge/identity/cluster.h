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

// "https://host:port", "host:port", "host" (port 6443). Errors: invalid, naming the text.
[[nodiscard]] Result<net::HostPort> parse_server(std::string_view text);
// "sha256:<64 hexadecimal digits>" -> the digits, in lower case. Errors: invalid.
[[nodiscard]] Result<std::string> parse_ca_hash(std::string_view text);

// The server, and the credentials of --kubeconfig or those to ask for a certificate with. Read anew
// at each call: files are replaced. With a pinned authority that is not known yet, `ca_pem` is
// empty and nothing but learn_authority() may be done. Errors: invalid, not_found, denied (a file).
[[nodiscard]] Result<ClusterAccess> read_access(const IdentityOptions& options);

// Asks the server for the authority (kube-public/cluster-info) and believes it only if the hash is
// that of its key. Nothing secret is sent. Errors: denied (another authority), the transport's.
asio::awaitable<Result<std::string>> learn_authority(const IdentityOptions& options,
                                                     const Clock& clock, MonoTime deadline);

// The authority out of a cluster-info document, checked. Errors: denied, invalid.
[[nodiscard]] Result<std::string> pinned_authority(std::string_view cluster_info,
                                                   std::string_view ca_hash);

}  // namespace holdfast::agent
