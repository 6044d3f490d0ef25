// Creates, reads and compares private keys, certificate requests and certificates as PEM text.
//
// All functions work on plain values and are thread-safe. Private keys are ordinary strings:
// callers must keep them secret and never log them.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"
#include "platform/tls/context.h"

namespace holdfast::tls {

// The names that a certificate is for.
struct Names {
  std::string common_name = {};
  std::vector<std::string> organizations = {};
  // subjectAltName: "DNS:localhost", "IP:127.0.0.1". Other kinds are ignored.
  std::vector<std::string> alternatives = {};

  bool operator==(const Names&) const = default;
};

// Whether all alternatives of `wanted` are among those of `held`. Addresses are compared by value,
// names without regard to case.
[[nodiscard]] bool covers(const Names& held, const Names& wanted);

struct Certificate {
  Names names = {};
  WallTime not_before{};
  WallTime not_after{};
  // SHA-256 of the public key (SubjectPublicKeyInfo) in hexadecimal, as kubeadm pins an authority.
  std::string public_key_sha256 = {};

  bool operator==(const Certificate&) const = default;
};

// Creates a private key (EC P-256), in PKCS #8 format.
[[nodiscard]] std::string make_key_pem();

// Creates a certificate request (PKCS #10) for `names`, signed with the key.
// Errors: invalid, naming the key or name that cannot be used.
[[nodiscard]] Result<std::string> make_request_pem(std::string_view key_pem, const Names& names);

// Reads the first certificate in `pem`. Errors: invalid.
[[nodiscard]] Result<Certificate> read_certificate(std::string_view pem);

// Returns the first certificate in `pem` without any other text. Errors: invalid.
[[nodiscard]] Result<std::string> first_certificate(std::string_view pem);

// Checks that the key belongs to the (first) certificate. Errors: invalid; also if either cannot be
// read.
[[nodiscard]] Status check_pair(const Identity& identity);

// Checks that the (first) certificate was signed by one of the authorities in `ca_pem`; validity
// times are not checked. Errors: invalid, with the reason.
[[nodiscard]] Status check_signed_by(std::string_view certificate_pem, std::string_view ca_pem);

}  // namespace holdfast::tls
