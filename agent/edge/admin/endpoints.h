// The addresses of a running agent, which it writes into its data directory for holdfastctl.

#pragma once

#include <filesystem>

#include "platform/net/transport.h"
#include "platform/result.h"

namespace holdfast::agent {

struct EdgeAddresses {
  net::HostPort proxy;
  net::HostPort admin;

  bool operator==(const EdgeAddresses&) const = default;
};

[[nodiscard]] Status write_endpoints(const std::filesystem::path& data_dir,
                                     const EdgeAddresses& endpoints);

// Errors: not_found, invalid (not what write_endpoints() writes), denied (the file belongs to
// another user, is a symbolic link, or is writable by others; its content decides which process
// holdfastctl trusts).
[[nodiscard]] Result<EdgeAddresses> read_endpoints(const std::filesystem::path& data_dir);

}  // namespace holdfast::agent
