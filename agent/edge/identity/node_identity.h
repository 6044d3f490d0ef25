// The node's identity in the cluster: its client certificate, the certificate authority that it
// trusts, and its serving certificate. All are requested, renewed and replaced without a restart.
//
// The agent starts and answers from the cache also without a certificate, with an expired one, or
// without a known authority. Until both are there, only requests to the API server are blocked.
//
// Threading: the loop's thread only. A NodeIdentity must outlive both keep functions.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/client/api_client.h"
#include "agent/edge/forward/uplink.h"
#include "agent/edge/identity/certificate_manager.h"
#include "agent/edge/identity/pki_dir.h"
#include "agent/edge/identity/trusted_clock.h"
#include "agent/edge/options/identity_options.h"

namespace holdfast::agent {

class NodeIdentity final : public CsrClient, public UplinkObserver {
 public:
  struct Settings {
    const IdentityOptions& options;
    std::string node_name;
    fs::Path data_dir;
  };

  // Loads the certificates and settings; `clock` and `random` must outlive this. Errors: those of
  // the files in the settings (a missing bootstrap file is no error once the node has its
  // certificate), the disk's.
  [[nodiscard]] static Result<std::unique_ptr<NodeIdentity>> open(asio::any_io_executor executor,
                                                                  Settings settings,
                                                                  TrustedClock& clock,
                                                                  Random& random);

  // Makes the client that sends requests with this identity. To be called once. The client must
  // outlive both keep functions.
  [[nodiscard]] Result<std::unique_ptr<ApiClient>> make_client(std::string user_agent);

  // Keep a certificate valid until cancelled. With --kubeconfig, another program renews the client
  // certificate; then its files are read again every 5 minutes and after a 401.
  asio::awaitable<void> keep_client_certificate();
  asio::awaitable<void> keep_serving_certificate();

  // The authority (PEM) that client certificates of callers are checked against; "" if none is
  // known.
  [[nodiscard]] const std::string& authority() const { return access_.tls_settings.ca_pem; }
  // When the current certificate expires; nothing if there is none.
  [[nodiscard]] std::optional<WallTime> ends(sync::identity::CertificateUse use) const;
  // The certificate of the secure listener: issued by the cluster or, until then, self-signed.
  [[nodiscard]] Result<tls::Identity> serving();
  // Sets the function that is called when authority() or serving() has changed.
  void on_serving_change(std::function<void()> callback) { on_serving_ = std::move(callback); }

  // Implement CsrClient and UplinkObserver.
  asio::awaitable<Result<std::string>> call(sync::identity::rotate::Credentials with,
                                            ApiRequest request) override;
  void answered(const http::Response& response) override;
  void unauthorized() override;

 private:
  NodeIdentity(asio::any_io_executor executor, Settings settings, PkiDir pki, TrustedClock& clock,
               Random& random);
  [[nodiscard]] Status find_cluster();
  asio::awaitable<void> follow_kubeconfig();
  void read_kubeconfig_again();
  void make_managers(Random& random);
  void apply();
  asio::awaitable<Status> discover_cluster();
  asio::awaitable<Result<std::string>> call_as_bootstrapper(ApiRequest request, MonoTime deadline);
  [[nodiscard]] bool is_pinned() const { return !settings_.options.ca_hash.empty(); }

  asio::any_io_executor executor_;
  Settings settings_;
  PkiDir pki_;
  TrustedClock& clock_;
  ClusterAccess access_;                                // with the current credentials
  std::unique_ptr<CertificateManager> client_manager_;  // null with --kubeconfig
  std::unique_ptr<CertificateManager> serving_manager_;
  std::optional<tls::Identity> self_signed_;
  std::shared_ptr<CredentialPlugin> bootstrap_plugin_;  // keeps what it gave between requests
  ApiClient* client_ = nullptr;
  std::size_t tries_ = 0;  // requests with bootstrap credentials; each try asks the next server
  loop::Event changed_;    // notified when the credentials have changed
  std::function<void()> on_serving_;
};

}  // namespace holdfast::agent
