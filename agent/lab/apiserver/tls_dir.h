// The directory of the server's certificates: server.crt and server.key, ca.crt to verify clients,
// and ca.key to sign nodes' certificates.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "platform/result.h"
#include "platform/time.h"
#include "platform/tls/context.h"

namespace holdfast::agent::lab {

struct TlsDir {
  std::shared_ptr<const tls::Context> context;
  std::optional<tls::Identity> authority = {};  // with ca.key only
  // What clients verify the server by (PEM): ca.crt, or else the server's own certificate.
  std::string ca_pem = {};
};

// Reads the directory. If it is missing or empty, all four files are created first: a new CA, and a
// certificate for the address `host` and for loopback. Errors: not_found or denied (a file),
// invalid (its content).
[[nodiscard]] Result<TlsDir> open_tls_dir(const std::string& dir, const std::string& host,
                                          WallTime now);

}  // namespace holdfast::agent::lab
