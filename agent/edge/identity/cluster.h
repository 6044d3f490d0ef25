// How the node reaches its cluster: the addresses of the API servers, the certificate authority
// that authenticates them, and the credentials with which the first certificate is requested. Read
// from IdentityOptions.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "agent/client/discovery.h"
#include "agent/client/kubeconfig.h"
#include "agent/client/server_list.h"
#include "agent/edge/options/identity_options.h"
#include "platform/time.h"

namespace holdfast::agent {

namespace asio = boost::asio;

// The join token. If it is given as a file, the file is read at each call. "" if there is none.
// Errors: not_found, denied (a file that others may read), invalid (empty).
[[nodiscard]] Result<std::string> join_token(const IdentityOptions& options);

// The servers with the credentials of --kubeconfig, or with the bootstrap credentials for
// requesting a certificate. Reads the files at each call, because they may be replaced. If
// --discovery-token-ca-cert-hash pins an authority that is not known yet, `ca_pem` is empty and
// only learn_authority() may be called. Errors: invalid, not_found, denied (a file).
[[nodiscard]] Result<ClusterAccess> read_access(const IdentityOptions& options);

// Replaces the servers of a kubeconfig by those of --server, if there are any. Errors: as
// parse_servers().
[[nodiscard]] Status override_servers(const IdentityOptions& options, ClusterAccess& access);

// Fetches the certificate authority from a server (kube-public/cluster-info). Accepts it only if
// the document is signed with the join token and the hash of the authority's key is the pinned one.
// Sends nothing secret. `server` counts the tries; each try asks the next server. Errors: denied
// (another authority, or no valid signature), those of join_token(), the transport's.
asio::awaitable<Result<std::string>> learn_authority(const IdentityOptions& options,
                                                     const Clock& clock, MonoTime deadline,
                                                     std::size_t server);

}  // namespace holdfast::agent
