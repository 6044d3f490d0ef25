// Keeps one certificate of the node valid: requests it with a CertificateSigningRequest (CSR),
// waits until it is issued, stores it, and renews it in time.
//
// sync/identity/rotation.h decides when; this class performs it. Whatever fails, the current
// certificate stays in use.
//
// Threading: the loop's thread only. A CertificateManager must outlive run().

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <deque>
#include <functional>
#include <optional>

#include "agent/client/api_client.h"
#include "agent/edge/identity/pki_dir.h"
#include "platform/loop/event.h"
#include "platform/random.h"
#include "platform/tls/certificate.h"
#include "sync/identity/rotation.h"

namespace holdfast::agent {

// Sends CSR requests to the API server, with the node's credentials or the bootstrap credentials.
class CsrClient {
 public:
  virtual ~CsrClient() = default;
  // Errors: as ApiClient::call(); also denied if there are no such credentials.
  virtual asio::awaitable<Result<std::string>> call(sync::identity::rotate::Credentials with,
                                                    ApiRequest request) = 0;
};

class CertificateManager {
 public:
  struct Spec {
    sync::identity::CertificateUse use;
    tls::Names names;
    sync::identity::RotationConfig rotation = {};
  };
  using OnChange = std::function<void(const tls::Identity&, const tls::Certificate&)>;

  // Loads the certificate that the last run stored. If it is damaged or belongs to another node,
  // this is logged and a new one is requested. `pki`, `csr_client`, `clock` (which judges expiry)
  // and `random` must outlive this.
  CertificateManager(asio::any_io_executor executor, Spec spec, const PkiDir& pki,
                     CsrClient& csr_client, const Clock& clock, Random& random);

  // Called for every newly issued certificate, but not for the one that the constructor loaded.
  void on_change(OnChange callback) { on_change_ = std::move(callback); }

  // Requests and renews the certificate. Runs until cancelled.
  asio::awaitable<void> run();

  // The server answered 401 to the held certificate: another one is requested.
  void refused();

  // The certificate with its key, and the parsed certificate. Nothing before the first one is
  // issued.
  [[nodiscard]] const std::optional<tls::Identity>& held() const { return held_; }
  [[nodiscard]] const std::optional<tls::Certificate>& certificate() const { return certificate_; }

 private:
  void load();
  // Gives an input to the rules and queues their actions.
  void feed(sync::identity::rotate::Input input);
  asio::awaitable<void> perform(sync::identity::rotate::Action action);
  // Create a CSR, read its state, and use an issued certificate.
  asio::awaitable<void> submit_request(sync::identity::rotate::Credentials with);
  asio::awaitable<void> poll_request(sync::identity::rotate::PollRequest poll_request);
  void adopt(const std::string& certificate_pem);
  [[nodiscard]] Result<tls::Certificate> take(const std::string& certificate_pem);

  Spec spec_;
  const PkiDir& pki_;
  CsrClient& csr_client_;
  const Clock& clock_;
  OnChange on_change_;
  std::optional<tls::Identity> held_;
  std::optional<tls::Certificate> certificate_;  // parsed from `held_`
  std::optional<sync::identity::Rotation>
      rotation_;  // set in the constructor once `held_` is loaded
  std::deque<sync::identity::rotate::Action> actions_;
  std::string key_pem_;  // private key of the request under way
  loop::Event woken_;
};

}  // namespace holdfast::agent
