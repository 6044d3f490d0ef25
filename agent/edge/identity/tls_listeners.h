// TLS listeners for callers with a certificate of the cluster, and for pods. They show the node's
// serving certificate, which is replaced without closing a connection.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "agent/edge/identity/node_identity.h"
#include "platform/http/server.h"

namespace holdfast::agent {

class TlsListeners {
 public:
  // An address to listen on.
  struct Address {
    const char* flag;  // that names it, for messages
    net::HostPort at;
    bool certificates = true;  // are required; otherwise a token will do
  };

  // `identity` and `clock`, by which callers' certificates are judged, outlive this.
  TlsListeners(asio::any_io_executor executor, std::vector<Address> addresses,
               NodeIdentity& identity, const Clock& clock, http::Handler handler, http::Gate gate,
               const http::ServerLimits& limits = {});

  // Another address, which is opened at the next refresh(); one that is listened on is ignored.
  void add(Address address);

  // Opens as soon as there is an authority to judge callers by; then takes the present serving
  // certificate for new callers. Errors: unavailable (the address is in use), invalid
  // (certificates), naming the flag.
  [[nodiscard]] Status refresh();

  asio::awaitable<void> stop(MonoTime deadline);

  // Of the server behind the listeners; nothing is counted before it is open.
  [[nodiscard]] http::Refusals refusals() const;
  // The port of the first address; 0 before it is open.
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  struct Listener {
    Address address;
    std::shared_ptr<const tls::Context> context = {};  // null: not yet
  };
  [[nodiscard]] Status open(Listener& each);

  asio::any_io_executor executor_;
  NodeIdentity& identity_;
  const Clock& clock_;
  http::Handler handler_;
  http::Gate gate_;
  http::ServerLimits limits_;
  std::vector<Listener> listeners_;
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_ = 0;
};

// The proxy's addresses over TLS: --secure-listen, and that of the interface for pods, which is
// added once the interface is there.
[[nodiscard]] std::vector<TlsListeners::Address> tls_addresses(const IdentityOptions& options);
[[nodiscard]] std::optional<TlsListeners::Address> tls_address_of_pods(
    const IdentityOptions& options);

}  // namespace holdfast::agent
