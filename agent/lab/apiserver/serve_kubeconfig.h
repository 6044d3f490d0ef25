// The kubeconfig that `holdfast-lab apiserver --write-kubeconfig` writes for an administrator.

#pragma once

#include <optional>
#include <string>

#include "platform/net/transport.h"
#include "platform/result.h"
#include "platform/time.h"
#include "platform/tls/certificate.h"

namespace holdfast::agent::lab {

struct KubeconfigAccess {
  net::HostPort listener;                       // with the real port
  std::string ca_pem;                           // what clients verify the server by; "": plain HTTP
  std::optional<tls::Identity> authority = {};  // signs the client certificate
  std::string tokens = {};                      // the text of --token-file
};

// The kubeconfig. Its credentials are the first token of a member of system:masters, or else a
// client certificate for this group, which is valid for a year. Without tokens and without an
// authority it has no credentials; then callers need none. An unspecified address becomes a
// loopback one. Errors: invalid, if the server has tokens but none of an administrator's, and there
// is no authority; those of signing.
[[nodiscard]] Result<std::string> kubeconfig_text(const KubeconfigAccess& access, WallTime now);

// Replaces `file` with the kubeconfig at once, with mode 0600. The file's folder must belong to us
// and not be writable by others, unless it has the sticky bit, as /tmp has. Errors, naming the
// file: those of kubeconfig_text(); not_found (no such folder), denied, those of the disk.
[[nodiscard]] Status write_kubeconfig(const std::string& file, const KubeconfigAccess& access,
                                      WallTime now);

}  // namespace holdfast::agent::lab
