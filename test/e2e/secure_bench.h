// SecureBench: an edge agent and the lab's API server with TLS between them. The bench has a
// certificate authority, tokens and certificates.

#pragma once

#include <string>

#include "platform/tls/certificate.h"
#include "platform/tls/signer.h"
#include "test/e2e/edge_bench.h"

namespace holdfast::test {

class SecureBench : public EdgeBench {
 public:
  SecureBench();

  // Starts the server and creates node edge-a and namespace ns if they do not exist.
  void start_tls_server(const std::vector<std::string>& more = {});
  // The agent's flags without --kubeconfig, followed by `way`: the flags for its access to the
  // server.
  [[nodiscard]] std::vector<std::string> secure_argv(const std::vector<std::string>& way) const;
  void launch_secure(const std::vector<std::string>& way);
  // Writes a kubeconfig for the server with this token and returns the file name.
  [[nodiscard]] std::string write_kubeconfig(const std::string& name, const std::string& token,
                                             std::uint16_t port) const;

  // One request over TLS with the client certificate `identity`, if it is not empty. With an empty
  // server_name, the certificate of the agent's listener is not verified.
  [[nodiscard]] Answer ask_over_tls(std::uint16_t port, const Ask& ask,
                                    const tls::Identity& identity = {},
                                    const std::string& server_name = {}) const;
  [[nodiscard]] Answer ask_over_tls(const net::HostPort& at, const Ask& ask,
                                    const tls::Identity& identity,
                                    const std::string& server_name) const;
  Answer as_admin(http::Method method, const std::string& target, const std::string& body = {});

  // A certificate signed by the cluster's authority.
  [[nodiscard]] tls::Identity certificate(const tls::Names& names) const;
  [[nodiscard]] std::string ca_hash() const;
  [[nodiscard]] std::string log() const;
  // Whether any file in the agent's data directory contains these bytes.
  [[nodiscard]] bool on_disk(std::string_view bytes) const;
  // The agent's current client certificate.
  [[nodiscard]] std::string client_pem() const;

  const std::uint16_t secure_port = free_port();

 private:
  tls::Identity authority_;
  tls::Signer signer_;
};

}  // namespace holdfast::test
