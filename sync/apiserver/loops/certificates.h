// What becomes of requests for certificates: which are approved without a person, which are signed,
// and for how long. Upstream's csrapprover and csrsigner in small.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/time.h"
#include "sync/apiserver/identity.h"

namespace holdfast::sync {

// What a request asks for by its own content; whoever can read PKCS #10 fills it in.
struct RequestedNames {
  std::string common_name = {};
  std::vector<std::string> organizations = {};
  std::vector<std::string> alternatives = {};  // "DNS:a", "IP:192.0.2.1"
};

// Writes down who asks, whatever the request says about it.
void set_requester(boost::json::object& csr, const Identity& who);

enum class CsrStep : std::uint8_t { none, judge, sign };
// What is to be done with it: nothing once it was denied, failed or signed.
[[nodiscard]] CsrStep next_step(const boost::json::object& csr);

// Whether no person needs to look at it: a node asks for itself, or a bootstrapper for a node's
// client certificate.
[[nodiscard]] bool approves_itself(const boost::json::object& csr, const RequestedNames& names);

// Why the signer that it names must not sign this; empty: it may. "unknown" signers are others'.
[[nodiscard]] bool knows_signer(const boost::json::object& csr);
[[nodiscard]] std::string objection(const boost::json::object& csr, const RequestedNames& names);

// How long the certificate is to last: what was asked for, at most `most`, at least ten minutes
// unless `most` is less.
[[nodiscard]] Duration lifetime(const boost::json::object& csr, Duration most);

// With a condition more: Approved or Failed.
[[nodiscard]] boost::json::object with_condition(boost::json::object csr, std::string_view type,
                                                 std::string_view reason, std::string_view message,
                                                 WallTime now);

}  // namespace holdfast::sync
