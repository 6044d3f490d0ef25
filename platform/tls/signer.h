// Signs certificates: what an authority does with a request, and a certificate signed by itself.
//
// Which request deserves a certificate is the caller's to decide; here is only checked that whoever
// asks has the key.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "platform/tls/certificate.h"

namespace holdfast::tls {

// What is asked for. Errors: invalid (no request, or not signed with its own key).
[[nodiscard]] Result<Names> read_request(std::string_view request_pem);

struct Grant {
  WallTime not_before{};
  WallTime not_after{};  // an authority's own end comes first
  bool for_client = false;
  bool for_server = false;
};

class Signer {
 public:
  // Errors: invalid (not a pair, no authority).
  [[nodiscard]] static Result<Signer> make(const Identity& authority);
  // A new authority with a key of its own.
  [[nodiscard]] static Identity make_authority(const std::string& common_name, WallTime not_before,
                                               WallTime not_after);
  Signer(Signer&&) noexcept;
  Signer& operator=(Signer&&) noexcept;
  ~Signer();

  // The certificate (PEM) for all the names that are asked for. Errors: invalid (the request).
  [[nodiscard]] Result<std::string> sign(std::string_view request_pem, const Grant& grant) const;
  [[nodiscard]] const std::string& authority_pem() const;

 private:
  struct State;
  explicit Signer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A certificate that vouches for itself, for a server that has no other yet.
// Errors: invalid (a name).
[[nodiscard]] Result<Identity> make_self_signed(const Names& names, const Grant& grant);

}  // namespace holdfast::tls
