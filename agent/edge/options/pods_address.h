// The address of the node's own interface by which its pods reach the agent (--dummy-if-ip).

#pragma once

#include <optional>

#include "agent/edge/options/identity_options.h"
#include "platform/net/transport.h"
#include "platform/result.h"

namespace holdfast::agent {

// Address and port where pods reach the agent over TLS; nothing if there is no such interface.
[[nodiscard]] std::optional<net::HostPort> pods_address(const IdentityOptions& options);

// Whether a listener on `listener` is also reached at `at`: it has the same address, or listens on
// all addresses.
[[nodiscard]] bool listens_at(const net::HostPort& listener, const net::HostPort& at);

// Errors: invalid, naming the flag.
[[nodiscard]] Status check_pods_interface(const IdentityOptions& options);

}  // namespace holdfast::agent
