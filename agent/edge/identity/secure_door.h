// The proxy's listeners for callers who show a certificate of the cluster, and for pods: TLS, with
// the node's own serving certificate, which is swapped without anybody being hung up on.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "agent/edge/identity/node_identity.h"
#include "platform/http/server.h"

namespace holdfast::agent {

class SecureDoor {
 public:
  // `identity` and `clock`, by which callers' certificates are judged, outlive this.
  SecureDoor(asio::any_io_executor executor, const IdentityOptions& options, NodeIdentity& identity,
             const Clock& clock, http::Handler handler);

  // Pods reach this machine by the address that is theirs: it is opened, too, for callers with
  // tokens, at the next refresh().
  void let_pods_in() { pods_ = true; }

  // Opens as soon as there is an authority to judge callers by; then takes the present serving
  // certificate for new callers. Errors: unavailable (the address is in use), invalid
  // (certificates), naming the flag.
  [[nodiscard]] Status refresh();

  asio::awaitable<void> stop(MonoTime deadline);

 private:
  // One address that is listened on.
  struct Leaf {
    const char* flag;
    net::HostPort at;
    bool certificates = true;  // are required
    std::shared_ptr<const tls::Context> context = {};
  };
  void add_leaves();
  [[nodiscard]] Status open(Leaf& leaf);

  asio::any_io_executor executor_;
  const IdentityOptions& options_;
  NodeIdentity& identity_;
  const Clock& clock_;
  http::Handler handler_;
  bool pods_ = false;
  std::vector<Leaf> leaves_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace holdfast::agent
