// Where a running agent can be found: written into its data directory for holdfastctl.

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

// Errors: not_found, invalid (not what write_endpoints() wrote), denied (the file is another
// user's, a link, or writable by others: it says whom holdfastctl asks).
[[nodiscard]] Result<EdgeAddresses> read_endpoints(const std::filesystem::path& data_dir);

}  // namespace holdfast::agent
