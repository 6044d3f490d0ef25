// TLS listeners for callers with a client certificate of the cluster, and for pods with tokens.
// They use the node's serving certificate, which is replaced without closing connections.
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
    const char* flag;  // the flag that sets it, for messages
    net::HostPort at;
    bool certificates = true;  // client certificates are required; otherwise a token is enough
  };

  // `identity` and `clock`, which judges callers' certificates, must outlive this.
  TlsListeners(asio::any_io_executor executor, std::vector<Address> addresses,
               NodeIdentity& identity, const Clock& clock, http::Handler handler, http::Gate gate,
               const http::ServerLimits& limits = {});

  // Adds an address, which the next refresh() opens. Ignored if a listener already covers it.
  void add(Address address);

  // Opens the listeners once the authority for checking callers is known. If they are open, new
  // connections use the current serving certificate. Errors: unavailable (the address is in use) or
  // invalid (certificates), naming the flag.
  [[nodiscard]] Status refresh();

  asio::awaitable<void> stop(MonoTime deadline);

  // Refused connections and requests of all listeners; zero before the first one is open.
  [[nodiscard]] http::Refusals refusals() const;
  // The port of the first address; 0 before it is open.
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  struct Listener {
    Address address;
    std::shared_ptr<const tls::Context> context = {};  // null: not open yet
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

// The proxy's TLS addresses: that of --secure-listen, and that of the interface for pods, which is
// added once the interface exists.
[[nodiscard]] std::vector<TlsListeners::Address> tls_addresses(const IdentityOptions& options);
[[nodiscard]] std::optional<TlsListeners::Address> tls_address_of_pods(
    const IdentityOptions& options);

}  // namespace holdfast::agent
