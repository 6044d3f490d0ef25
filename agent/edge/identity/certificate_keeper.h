// Keeps one certificate of the node alive: asks for it, waits for it, stores it, renews it in time.
//
// sync/identity/rotation.h decides; this performs. Whatever fails, what is held stays held.
//
// Threading: the loop's thread only. Outlives run().

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

// Whoever brings a request for a certificate to the API server.
class Registrar {
 public:
  virtual ~Registrar() = default;
  // Errors: as ApiClient::call(); denied also when there are no such credentials.
  virtual asio::awaitable<Result<std::string>> call(sync::rotate::Credentials with,
                                                    ApiRequest request) = 0;
};

class CertificateKeeper {
 public:
  struct Wish {
    sync::CertificateUse use;
    tls::Names names;
    sync::RotationConfig rotation = {};
  };
  using OnChange = std::function<void(const tls::Identity&, const tls::Certificate&)>;

  // Reads what the last run left; damaged, or another's, it is as good as none, and said so in the
  // log. `pki`, `registrar`, `clock` (by which certificates are judged) and `random` outlive this.
  CertificateKeeper(asio::any_io_executor executor, Wish wish, const PkiDir& pki,
                    Registrar& registrar, const Clock& clock, Random& random);

  // Called for every certificate that is taken into use after the first.
  void on_change(OnChange callback) { on_change_ = std::move(callback); }

  // Until it is cancelled.
  asio::awaitable<void> run();

  // The server does not know us by what we hold.
  void refused();

  [[nodiscard]] const std::optional<tls::Identity>& held() const { return held_; }
  [[nodiscard]] const std::optional<tls::Certificate>& certificate() const { return certificate_; }

 private:
  void load();
  void feed(sync::rotate::Input input);
  asio::awaitable<void> perform(sync::rotate::Action action);
  asio::awaitable<void> ask(sync::rotate::Credentials with);
  asio::awaitable<void> look(sync::rotate::Look look);
  void adopt(const std::string& certificate_pem);
  [[nodiscard]] Result<tls::Certificate> take(const std::string& certificate_pem);

  Wish wish_;
  const PkiDir& pki_;
  Registrar& registrar_;
  const Clock& clock_;
  OnChange on_change_;
  std::optional<tls::Identity> held_;
  std::optional<tls::Certificate> certificate_;  // of `held_`
  std::optional<sync::Rotation> rotation_;       // once `held_` was read
  std::deque<sync::rotate::Action> actions_;
  std::string key_pem_;  // of the request that is under way
  loop::Event woken_;
};

}  // namespace holdfast::agent
