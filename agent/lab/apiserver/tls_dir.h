// The directory of the server's certificates: server.crt and server.key, ca.crt to judge clients
// by, ca.key to sign nodes' certificates with.

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
};

// Reads it. In one that is not there, or empty, all four files are made first: an authority of our
// own, and a certificate for `host` and this machine.
// Errors: not_found or denied (a file), invalid (what is in it).
[[nodiscard]] Result<TlsDir> open_tls_dir(const std::string& dir, const std::string& host,
                                          WallTime now);

}  // namespace holdfast::agent::lab
