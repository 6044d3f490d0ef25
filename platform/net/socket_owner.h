// Which user owns the other end of a loopback connection.
//
// A local caller is identified by the kernel's record of his socket. Only a record that proves
// something counts: it must describe exactly this connection (all four parts of the address), and a
// socket that a process still holds. A closed socket (TIME_WAIT, orphaned) is recorded with uid 0
// and a listening one with the uid of the listener; neither says anything about the caller.
//
// Threading: any thread; the network namespace is that in which the thread first asked.

#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>
#include <span>

#include "platform/net/connection.h"

namespace holdfast::net {

// A TCP connection as seen from the socket that is asked about.
struct Connected {
  boost::asio::ip::tcp::endpoint source;  // its own address
  boost::asio::ip::tcp::endpoint destination;
};

// Whether a socket in this state (TCP_ESTABLISHED and so on, <netinet/tcp.h>) can have sent what
// arrives now and belongs to a process.
[[nodiscard]] bool has_live_owner(std::uint8_t state);

// Reads one answer of sock_diag(7). Nothing: it is an error, is cut short, or does not prove who
// owns the socket of `asked`.
[[nodiscard]] std::optional<SocketOwner> read_sock_diag(std::span<const char> answer,
                                                        const Connected& asked);

// Asks the kernel who owns the peer's socket: by sock_diag(7) or, where that has never answered (a
// small box's kernel may be built without it), from its table of sockets. Nothing when the peer is
// not on loopback or its owner cannot be proved.
[[nodiscard]] std::optional<SocketOwner> owner_of_loopback_peer(
    const boost::asio::ip::tcp::socket& socket);

}  // namespace holdfast::net
