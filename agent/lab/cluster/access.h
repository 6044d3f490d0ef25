// How the lab's processes are started and reach each other: flags and kubeconfigs.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "platform/result.h"

namespace holdfast::agent::lab::cluster {

using Flags = std::vector<std::pair<std::string, std::string>>;

// The flags as arguments: {"--lease-duration=6s", ...}.
[[nodiscard]] std::vector<std::string> as_arguments(const Flags& flags);

// A kubeconfig for a server on this machine, with this token. With the file of a certificate
// authority, the server speaks TLS.
[[nodiscard]] std::string kubeconfig(std::uint16_t port, const std::string& token,
                                     const std::string& ca_file = {});

// A port of loopback on which nothing listens now, for programs that cannot pick one themselves.
// Each call returns another one. Not thread-safe.
[[nodiscard]] Result<std::uint16_t> free_port();

}  // namespace holdfast::agent::lab::cluster
