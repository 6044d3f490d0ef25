// Finds the user who owns the other end of a loopback connection.
//
// A local caller is identified by the kernel's record of its socket. A record counts only if it
// proves the owner: it must describe exactly this connection (both addresses and both ports) and a
// socket that a process still holds. A closed socket (TIME_WAIT, orphaned) is recorded with uid 0
// and a listening one with the uid of the listener; neither identifies the caller.
//
// Threading: any thread. The network namespace is the one in which the thread made its first call.

#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>
#include <span>

#include "platform/net/connection.h"

namespace holdfast::net {

// A TCP connection, as seen from the socket whose owner is wanted.
struct Connected {
  boost::asio::ip::tcp::endpoint source;  // its own address
  boost::asio::ip::tcp::endpoint destination;
};

// Whether a socket in this state (TCP_ESTABLISHED and so on, <netinet/tcp.h>) belongs to a process
// and can have sent data that arrives now.
[[nodiscard]] bool has_live_owner(std::uint8_t state);

// Parses one reply of sock_diag(7). Returns nothing if it is an error, is truncated, or does not
// prove who owns the socket of `asked`.
[[nodiscard]] std::optional<SocketOwner> read_sock_diag(std::span<const char> answer,
                                                        const Connected& asked);

// Asks the kernel who owns the peer's socket: with sock_diag(7) or, if that has never succeeded
// (small kernels may lack it), from its table of sockets. Returns nothing if the peer is not on
// loopback or its owner cannot be proved.
[[nodiscard]] std::optional<SocketOwner> owner_of_loopback_peer(
    const boost::asio::ip::tcp::socket& socket);

}  // namespace holdfast::net
