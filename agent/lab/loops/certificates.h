// Decides about CertificateSigningRequests: which are approved automatically, which are signed, and
// for how long. A small version of upstream's csrapprover and csrsigner.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/rules/identity.h"
#include "platform/time.h"

namespace holdfast::agent::lab {

// The names in a request (PKCS #10); the caller parses it.
struct RequestedNames {
  std::string common_name = {};
  std::vector<std::string> organizations = {};
  std::vector<std::string> alternatives = {};  // "DNS:a", "IP:192.0.2.1"
};

// Sets the requester in the spec, replacing what the client wrote there.
void set_requester(boost::json::object& csr, const Identity& who);

enum class CsrStep : std::uint8_t { none, decide, sign };
// The next step for a request; none once it was denied, failed or signed.
[[nodiscard]] CsrStep next_step(const boost::json::object& csr);

// Whether it is approved automatically: a node requests a certificate for itself, or a bootstrapper
// requests a client certificate for a node.
[[nodiscard]] bool is_auto_approved(const boost::json::object& csr, const RequestedNames& names);

// Whether its signer is one of ours; requests for other signers are ignored.
[[nodiscard]] bool is_known_signer(const boost::json::object& csr);
// Why its signer must not sign the request, in upstream's words where upstream has the same rule;
// "" if it may.
[[nodiscard]] std::string objection(const boost::json::object& csr, const RequestedNames& names);

// The lifetime of the certificate: as requested, but at least ten minutes and at most `most`.
// `most` if the request has none.
[[nodiscard]] Duration lifetime(const boost::json::object& csr, Duration most);

// `csr` with another condition: Approved or Failed.
[[nodiscard]] boost::json::object with_condition(boost::json::object csr, std::string_view type,
                                                 std::string_view reason, std::string_view message,
                                                 WallTime now);

}  // namespace holdfast::agent::lab
