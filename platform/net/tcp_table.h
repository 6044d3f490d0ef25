// The kernel's table of TCP sockets, /proc/net/tcp and /proc/net/tcp6 (proc_net(5)).

#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::net {

// The owner of the socket that is bound to `source` and connected to `destination`, both of one
// family, in the text of such a table; nothing when it is not there or its line is not understood.
// An IPv4 address is also found in the IPv6 table, as sockets of both families have it.
[[nodiscard]] std::optional<std::uint32_t> owner_in_tcp_table(
    std::string_view table, const boost::asio::ip::tcp::endpoint& source,
    const boost::asio::ip::tcp::endpoint& destination);

// The same in the running kernel's tables. It reads every connection of the machine: dear.
[[nodiscard]] std::optional<std::uint32_t> owner_in_tcp_tables(
    const boost::asio::ip::tcp::endpoint& source,
    const boost::asio::ip::tcp::endpoint& destination);

}  // namespace holdfast::net
