// What holdfast-cloud serves about itself: /healthz, /livez, /readyz and /metrics.
//
// With a certificate it serves TLS; without one plain HTTP, and that only on loopback unless told
// otherwise. Nobody is asked who he is: none of it is secret, but it is no reading for strangers.
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

// One thing that may be wrong, by name; an error says what.
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

  // What the pages refer to outlives stop().
  Endpoints(asio::any_io_executor executor, Pages pages);

  // Errors: of reading the certificate; unavailable (the port is taken), denied.
  [[nodiscard]] Status listen(const EndpointSettings& settings);
  asio::awaitable<void> stop(MonoTime deadline) { return server_.stop(deadline); }

  // 0 when nothing is served.
  [[nodiscard]] std::uint16_t port() const { return port_; }

  [[nodiscard]] http::Response answer(const http::Request& request) const;

 private:
  asio::awaitable<http::Response> handle(const http::Request& request) const;

  asio::any_io_executor executor_;
  Pages pages_;
  http::Server server_;
  std::uint16_t port_ = 0;
};

}  // namespace holdfast::agent
