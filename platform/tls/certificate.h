// Keys, requests for certificates and certificates, as PEM text: made, read and compared.
//
// Everything is a plain value; any thread. Private keys are text like the rest: who keeps them,
// keeps them to himself, and never logs them.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"
#include "platform/tls/context.h"

namespace holdfast::tls {

// Whom a certificate is for.
struct Names {
  std::string common_name = {};
  std::vector<std::string> organizations = {};
  // subjectAltName: "DNS:localhost", "IP:127.0.0.1". Other kinds are not read.
  std::vector<std::string> alternatives = {};

  bool operator==(const Names&) const = default;
};

// Whether all of `wanted`'s alternatives are among those of `held`; addresses are compared as such.
[[nodiscard]] bool covers(const Names& held, const Names& wanted);

struct Certificate {
  Names names = {};
  WallTime not_before{};
  WallTime not_after{};
  // SHA-256 of the public key (SubjectPublicKeyInfo), in hexadecimal: how kubeadm and others pin an
  // authority.
  std::string public_key_sha256 = {};

  bool operator==(const Certificate&) const = default;
};

// A new private key (EC P-256), PKCS #8.
[[nodiscard]] std::string make_key_pem();

// Asks for a certificate for `names` and the key (PKCS #10), signed with it.
// Errors: invalid, naming the key or the name that cannot be used.
[[nodiscard]] Result<std::string> make_request_pem(std::string_view key_pem, const Names& names);

// The first certificate in `pem`. Errors: invalid.
[[nodiscard]] Result<Certificate> read_certificate(std::string_view pem);

// The same certificate alone: without whatever else was in the text. Errors: invalid.
[[nodiscard]] Result<std::string> first_certificate(std::string_view pem);

// Errors: invalid, when the key is not the (first) certificate's, or either cannot be read.
[[nodiscard]] Status check_pair(const Identity& identity);

// Whether the (first) certificate was signed by one of the authorities in `ca_pem`, whatever the
// time is. Errors: invalid, saying why not.
[[nodiscard]] Status check_signed_by(std::string_view certificate_pem, std::string_view ca_pem);

}  // namespace holdfast::tls
