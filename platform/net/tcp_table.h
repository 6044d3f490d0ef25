// Finds a socket's owner in the kernel's tables of TCP sockets, /proc/net/tcp and /proc/net/tcp6
// (proc_net(5)).

#pragma once

#include <optional>
#include <string_view>

#include "platform/net/socket_owner.h"

namespace holdfast::net {

// Finds the owner of the socket of `asked`, whose addresses are of one family, in the text of such
// a table. Returns nothing if the socket is not listed, its line cannot be parsed, or no process
// holds it. An IPv4 address is also found in the IPv6 table, which lists sockets of both families.
[[nodiscard]] std::optional<SocketOwner> owner_in_tcp_table(std::string_view table,
                                                            const Connected& asked);

// The same with the running kernel's tables. It is slow: it reads every connection of the machine.
[[nodiscard]] std::optional<SocketOwner> owner_in_tcp_tables(const Connected& asked);

}  // namespace holdfast::net
