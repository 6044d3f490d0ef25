// Connects to the first of several addresses that answers ("happy eyeballs", RFC 8305).
//
// Private to platform/net.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "platform/net/names.h"
#include "platform/net/network.h"

namespace holdfast::net {

// How long an address may take before the next one is tried beside it (RFC 8305, section 8).
inline constexpr Duration attempt_delay = std::chrono::milliseconds(250);

// The addresses in the order in which to try them: the families of IPv6 and IPv4 alternate,
// beginning with that of the first address (RFC 8305, section 4).
[[nodiscard]] Addresses interleaved(const Addresses& addresses);

// Tries the addresses of the server `to`, of which there is at least one, in that order. The next
// one is tried when all before it have failed or when `attempt_delay` has passed; the first that is
// connected wins, and all others are given up. Errors: that of the last address.
asio::awaitable<Result<std::unique_ptr<Dialed>>> dial_first(Network& network, HostPort to,
                                                            Addresses addresses, MonoTime deadline);

}  // namespace holdfast::net
