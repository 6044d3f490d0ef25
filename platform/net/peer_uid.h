// Which user owns the other end of a loopback connection.

#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>

namespace holdfast::net {

// Asks the kernel for the owner of the peer's socket: by sock_diag(7), or, where that has never
// answered (a small box's kernel may be without it), in its table of sockets. Nothing when the peer
// is not on loopback or its socket is already gone.
[[nodiscard]] std::optional<std::uint32_t> loopback_peer_uid(
    const boost::asio::ip::tcp::socket& socket);

}  // namespace holdfast::net
