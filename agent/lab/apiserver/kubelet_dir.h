// The client certificate that an API server presents to kubelets, with an authority that signs
// nothing else: ca.crt, client.crt and client.key in a directory.

#pragma once

#include <filesystem>
#include <string>

#include "platform/result.h"
#include "platform/time.h"
#include "platform/tls/context.h"

namespace holdfast::agent::lab {

// The names of the files in the directory.
inline constexpr const char* kubelet_ca_file = "ca.crt";  // for holdfast-node --client-ca-file
inline constexpr const char* kubelet_client_certificate = "client.crt";
inline constexpr const char* kubelet_client_key = "client.key";

// Reads the certificate. In a new or empty directory all files are created first, readable for
// their owner only; the authority's key is not kept. Errors: those of the files, invalid (a file).
[[nodiscard]] Result<tls::Identity> open_kubelet_dir(const std::filesystem::path& dir,
                                                     WallTime now);

}  // namespace holdfast::agent::lab
