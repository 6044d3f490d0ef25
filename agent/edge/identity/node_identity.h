// Who the node is to the cluster: its client certificate, whom it believes, and its serving
// certificate; asked for, renewed and swapped while everything goes on.
//
// "Serve first": without a certificate, with an expired one, or without any idea of the authority
// the agent starts and answers from the cache; only the way to the cloud is closed until there is
// something to come with.
//
// Threading: the loop's thread only. Outlives what keep() runs.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/client/api_client.h"
#include "agent/edge/identity/certificate_keeper.h"
#include "agent/edge/identity/judged_clock.h"
#include "agent/edge/identity/options.h"
#include "agent/edge/identity/pki_dir.h"
#include "agent/edge/uplink.h"

namespace holdfast::agent {

class NodeIdentity final : public Registrar, public UplinkObserver {
 public:
  struct Place {
    const IdentityOptions& options;
    std::string node_name;
    fs::Path data_dir;
  };

  // Reads what there is; `clock` and `random` outlive this. Errors: the settings' files (a
  // bootstrap file that is gone is none once the node has its certificate), the disk's.
  [[nodiscard]] static Result<std::unique_ptr<NodeIdentity>> open(asio::any_io_executor executor,
                                                                  Place place, JudgedClock& clock,
                                                                  Random& random);

  // The client that this identity speaks through from now on; asked for once. It outlives keep().
  [[nodiscard]] Result<std::unique_ptr<ApiClient>> make_client(std::string user_agent);

  // Keep both certificates until they are cancelled. With --kubeconfig somebody else renews the
  // client's: its files are read again.
  asio::awaitable<void> keep_client_certificate();
  asio::awaitable<void> keep_serving_certificate();

  // The authority that callers' certificates are judged by; "" while there is none.
  [[nodiscard]] const std::string& authority() const { return access_.tls_settings.ca_pem; }
  // When the certificate that is held ends; nothing: none is held.
  [[nodiscard]] std::optional<WallTime> ends(sync::CertificateUse use) const;
  // What the secure listener shows: issued by the cluster or, until then, signed by itself.
  [[nodiscard]] Result<tls::Identity> serving();
  // Called when authority() or serving() has changed.
  void on_serving_change(std::function<void()> callback) { on_serving_ = std::move(callback); }

  asio::awaitable<Result<std::string>> call(sync::rotate::Credentials with,
                                            ApiRequest request) override;
  void answered(const http::Response& response) override;
  void unauthorized() override;

 private:
  NodeIdentity(asio::any_io_executor executor, Place place, PkiDir pki, JudgedClock& clock,
               Random& random);
  [[nodiscard]] Status find_cluster();
  asio::awaitable<void> follow_kubeconfig();
  void read_kubeconfig_again();
  void make_keepers(Random& random);
  void apply();
  asio::awaitable<Status> learn();
  asio::awaitable<Result<std::string>> call_as_bootstrapper(ApiRequest request, MonoTime deadline);
  [[nodiscard]] bool is_pinned() const { return !place_.options.ca_hash.empty(); }

  asio::any_io_executor executor_;
  Place place_;
  PkiDir pki_;
  JudgedClock& clock_;
  ClusterAccess access_;                              // with what we come with now
  std::unique_ptr<CertificateKeeper> client_keeper_;  // null with --kubeconfig
  std::unique_ptr<CertificateKeeper> serving_keeper_;
  std::optional<tls::Identity> self_signed_;
  ApiClient* client_ = nullptr;
  std::size_t tries_ = 0;  // without the client: each goes to another server
  loop::Event changed_;    // what we come with
  std::function<void()> on_serving_;
};

}  // namespace holdfast::agent
