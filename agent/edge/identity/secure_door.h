// The proxy's listener for callers who show a certificate of the cluster: TLS, with the node's own
// serving certificate, which is swapped without anybody being hung up on.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <memory>

#include "agent/edge/identity/node_identity.h"
#include "platform/http/server.h"

namespace holdfast::agent {

class SecureDoor {
 public:
  // `identity` and `clock`, by which callers' certificates are judged, outlive this.
  SecureDoor(asio::any_io_executor executor, const IdentityOptions& options, NodeIdentity& identity,
             const Clock& clock, http::Handler handler);

  // Opens as soon as there is an authority to judge callers by; then takes the present serving
  // certificate for new callers. Errors: unavailable (the address is in use), invalid
  // (certificates).
  [[nodiscard]] Status refresh();

  asio::awaitable<void> stop(MonoTime deadline);
  // 0 while it is closed.
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  [[nodiscard]] Status open();

  asio::any_io_executor executor_;
  const IdentityOptions& options_;
  NodeIdentity& identity_;
  const Clock& clock_;
  http::Handler handler_;
  std::shared_ptr<const tls::Context> context_;
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_ = 0;
};

}  // namespace holdfast::agent
