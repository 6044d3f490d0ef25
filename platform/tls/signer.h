// Signs certificates: as an authority, or self-signed.
//
// The caller decides which requests to sign; this code only checks that the request is signed with
// its own key.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "platform/tls/certificate.h"

namespace holdfast::tls {

// The names in a certificate request. Errors: invalid (not a request, or not signed with its own
// key).
[[nodiscard]] Result<Names> read_request(std::string_view request_pem);

struct Grant {
  WallTime not_before{};
  WallTime not_after{};  // Signer limits it to the authority's own end
  bool for_client = false;
  bool for_server = false;
};

class Signer {
 public:
  // Errors: invalid (key and certificate do not match, or it is not a CA certificate).
  [[nodiscard]] static Result<Signer> make(const Identity& authority);
  // Creates an authority with a new key.
  [[nodiscard]] static Identity make_authority(const std::string& common_name, WallTime not_before,
                                               WallTime not_after);
  Signer(Signer&&) noexcept;
  Signer& operator=(Signer&&) noexcept;
  Signer(const Signer&) = delete;
  Signer& operator=(const Signer&) = delete;
  ~Signer();

  // Returns the certificate (PEM) for all names in the request. Errors: invalid (the request).
  [[nodiscard]] Result<std::string> sign(std::string_view request_pem, const Grant& grant) const;
  [[nodiscard]] const std::string& authority_pem() const;

 private:
  struct State;
  explicit Signer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Creates a self-signed certificate, for a server that has no other yet.
// Errors: invalid (a name).
[[nodiscard]] Result<Identity> make_self_signed(const Names& names, const Grant& grant);

}  // namespace holdfast::tls
