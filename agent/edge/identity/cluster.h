// Where the cluster is, whom to believe that it is the cluster, and what to come with for the first
// certificate.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>

#include "agent/client/kubeconfig.h"
#include "agent/edge/identity/discovery.h"
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

// The join token, out of its file when it has one, which is read anew at each call; "" for none.
// Errors: not_found, denied (a file that others may read), invalid (empty).
[[nodiscard]] Result<std::string> join_token(const IdentityOptions& options);

// The servers, and the credentials of --kubeconfig or those to ask for a certificate with. Read
// anew at each call: files are replaced. With a pinned authority that is not known yet, `ca_pem` is
// empty and nothing but learn_authority() may be done. Errors: invalid, not_found, denied (a file).
[[nodiscard]] Result<ClusterAccess> read_access(const IdentityOptions& options);

// Puts those of --server, if there are any, in the place of a kubeconfig's. Errors: as
// parse_servers().
[[nodiscard]] Status override_servers(const IdentityOptions& options, ClusterAccess& access);

// Asks a server for the authority (kube-public/cluster-info) and believes it only if the document
// is signed with the join token and the hash is that of the authority's key. Nothing secret is
// sent. `server` counts the tries: each asks another one. Errors: denied (another authority, or no
// such signature), those of join_token(), the transport's.
asio::awaitable<Result<std::string>> learn_authority(const IdentityOptions& options,
                                                     const Clock& clock, MonoTime deadline,
                                                     std::size_t server);

}  // namespace holdfast::agent
