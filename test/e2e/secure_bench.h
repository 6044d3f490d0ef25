// An edge agent and the lab's API server with TLS between them: an authority, tokens, certificates.

#pragma once

#include <string>

#include "platform/tls/certificate.h"
#include "platform/tls/signer.h"
#include "test/e2e/edge_bench.h"

namespace holdfast::test {

class SecureBench : public EdgeBench {
 public:
  SecureBench();

  // Starts the server and makes node edge-a and namespace ns, if they are not there.
  void start_tls_server(const std::vector<std::string>& more = {});
  // The agent's flags without --kubeconfig; with `way`, which says how it reaches the server.
  [[nodiscard]] std::vector<std::string> secure_argv(const std::vector<std::string>& way) const;
  void launch_secure(const std::vector<std::string>& way);
  // A kubeconfig for the server with this token; returns the file's name.
  [[nodiscard]] std::string write_kubeconfig(const std::string& name, const std::string& token,
                                             std::uint16_t port) const;

  // One request over TLS, as whom `identity` says (nobody when it is empty). Without a name for the
  // agent's listener, whatever it shows is believed.
  [[nodiscard]] Answer ask_over_tls(std::uint16_t port, const Ask& ask,
                                    const tls::Identity& identity = {},
                                    const std::string& server_name = {}) const;
  [[nodiscard]] Answer ask_over_tls(const net::HostPort& at, const Ask& ask,
                                    const tls::Identity& identity,
                                    const std::string& server_name) const;
  Answer as_admin(http::Method method, const std::string& target, const std::string& body = {});

  // A certificate of the cluster's authority.
  [[nodiscard]] tls::Identity certificate(const tls::Names& names) const;
  [[nodiscard]] std::string ca_hash() const;
  [[nodiscard]] std::string log() const;
  // Whether any file of the agent's data directory has these bytes.
  [[nodiscard]] bool on_disk(std::string_view bytes) const;
  // The agent's present client certificate.
  [[nodiscard]] std::string client_pem() const;

  const std::uint16_t secure_port = free_port();

 private:
  tls::Identity authority_;
  tls::Signer signer_;
};

}  // namespace holdfast::test
