// Which user owns the other end of a loopback connection.

#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>

namespace holdfast::net {

// Asks the kernel (sock_diag(7)) for the owner of the peer's socket. Nothing when the peer is not
// on loopback or its socket is already gone.
[[nodiscard]] std::optional<std::uint32_t> loopback_peer_uid(
    const boost::asio::ip::tcp::socket& socket);

}  // namespace holdfast::net
