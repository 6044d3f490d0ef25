// The HTTP server of holdfast-cloud: /healthz, /livez, /readyz and /metrics.
//
// It serves TLS if a certificate is set. Without one it serves plain HTTP, and only on loopback
// unless --allow-insecure-bind is set. Callers are not authenticated: the pages contain no secrets,
// but they should not be reachable from untrusted networks.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/config/options.h"
#include "platform/http/server.h"
#include "platform/result.h"

namespace holdfast::agent {

namespace asio = boost::asio;

struct EndpointSettings {
  std::string bind_address = "127.0.0.1";
  int secure_port = 10257;  // kube-controller-manager's; 0: nothing is served
  std::string tls_cert_file;
  std::string tls_private_key_file;
  bool allow_insecure_bind = false;
};
void add_options(config::Options& options, EndpointSettings& settings);
// Errors: invalid, naming the flag.
[[nodiscard]] Status check(const EndpointSettings& settings);

// One named check of a health page. An error fails the page and is shown on it.
struct HealthCheck {
  std::string name;
  std::function<Status()> run;
};

class Endpoints {
 public:
  struct Pages {
    std::vector<HealthCheck> healthy;  // for /healthz and /livez
    std::vector<HealthCheck> ready;    // for /readyz
    std::function<std::string()> metrics;
  };

  // Everything that the pages refer to outlives stop().
  Endpoints(asio::any_io_executor executor, Pages pages);

  // Errors: those of reading the certificate; unavailable (the port is in use), denied.
  [[nodiscard]] Status listen(const EndpointSettings& settings);
  asio::awaitable<void> stop(MonoTime deadline) { return server_.stop(deadline); }

  // 0 when nothing is served.
  [[nodiscard]] std::uint16_t port() const { return port_; }

  // The response to one request, without a socket; for the server and for tests.
  [[nodiscard]] http::Response answer(const http::Request& request) const;

 private:
  asio::awaitable<http::Response> handle(const http::Request& request) const;

  asio::any_io_executor executor_;
  Pages pages_;
  http::Server server_;
  std::uint16_t port_ = 0;
};

}  // namespace holdfast::agent
