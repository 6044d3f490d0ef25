// The cluster in which a run is a guest: its kubeconfig, what the user may do there, and the
// credentials of the run's nodes.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "agent/client/api_client.h"
#include "agent/lab/guest/guest.h"

namespace holdfast::agent::lab::guest {

namespace asio = boost::asio;

struct Host {
  std::string file;  // the kubeconfig
  ClusterAccess access;
  Guest guest;
};

// Reads the kubeconfig. Errors: those of read_kubeconfig(); invalid, naming the file, if its
// context has no credentials although the server speaks TLS.
[[nodiscard]] Result<Host> read_host(const std::string& file);

// Errors: those of ApiClient::make(), naming the file.
[[nodiscard]] Result<std::unique_ptr<ApiClient>> client_of(const Host& host, const Clock& clock);

// Asks the server what the user may do. Errors, all naming the file and the server: unavailable or
// timeout (it cannot be reached); denied (the credentials are not accepted, or every right that is
// missing). `client` and `clock` are borrowed.
asio::awaitable<Status> check_rights(const Host& host, ApiClient& client, const Clock& clock,
                                     bool with_priorities);

// Requests a node's client certificate from the cluster, and approves the request, which the caller
// must be allowed to. `node` is its name in the cluster. Errors: timeout (nobody signs it); denied;
// those of the server.
asio::awaitable<Result<tls::Identity>> certificate_of(const Host& host, ApiClient& client,
                                                      const Clock& clock, std::string node);

// A kubeconfig for the cluster at a port of 127.0.0.1, to which a link leads. Without an identity,
// which needs TLS, it has the user's own token, if there is one.
[[nodiscard]] std::string kubeconfig_through(const Host& host, std::uint16_t port,
                                             const tls::Identity& identity);

}  // namespace holdfast::agent::lab::guest
