// The kernel's table of TCP sockets, /proc/net/tcp and /proc/net/tcp6 (proc_net(5)).

#pragma once

#include <optional>
#include <string_view>

#include "platform/net/socket_owner.h"

namespace holdfast::net {

// The owner of the socket of `asked`, whose addresses are of one family, in the text of such a
// table. Nothing: it is not there, its line is not understood, or no process holds it any more. An
// IPv4 address is also found in the IPv6 table, where sockets of both families are listed.
[[nodiscard]] std::optional<SocketOwner> owner_in_tcp_table(std::string_view table,
                                                            const Connected& asked);

// The same in the running kernel's tables. It reads every connection of the machine, which is slow.
[[nodiscard]] std::optional<SocketOwner> owner_in_tcp_tables(const Connected& asked);

}  // namespace holdfast::net
