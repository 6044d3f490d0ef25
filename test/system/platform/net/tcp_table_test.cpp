// Parsing the kernel's table of TCP sockets, from texts and from the running kernel.

#include "platform/net/tcp_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <boost/asio/io_context.hpp>

namespace holdfast::net {
namespace {

namespace ip = boost::asio::ip;
using ip::tcp;

constexpr std::string_view head =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n";

TEST(TcpTable, NamesTheOwnerOfASocket) {
  static_assert(std::endian::native == std::endian::little,
                "the tables below are of such a machine");
  struct Case {
    const char* what;
    std::string line;
    const char* source;
    const char* destination;
    std::optional<std::uint32_t> owner;
  };
  const std::string columns =
      " 00000000:00000000 00:00000000 00000000  1000        0 77 1 0 20 4\n";
  const std::string rest = " 01" + columns;
  const std::string ends = "   0: 0100007F:C350 0100007F:2815";
  const std::string orphan = " 01 00000000:00000000 00:00000000 00000000 0 0 0 1 0 20 4\n";
  const std::string mapped = "0000000000000000FFFF00000100007F";
  const std::string one = "00000000000000000000000001000000";
  const Case cases[] = {
      {"both ends", "   0: 0100007F:C350 0100007F:2815" + rest, "127.0.0.1", "127.0.0.1", 1000},
      {"the other end", "   0: 0100007F:2815 0100007F:C350" + rest, "127.0.0.1", "127.0.0.1", {}},
      {"another port", "   0: 0100007F:C351 0100007F:2815" + rest, "127.0.0.1", "127.0.0.1", {}},
      {"another address", "   0: 0200007F:C350 0100007F:2815" + rest, "127.0.0.1", "127.0.0.1", {}},
      {"IPv6", "   0: " + one + ":C350 " + one + ":2815" + rest, "::1", "::1", 1000},
      {"IPv4 of an IPv6 socket", "   0: " + mapped + ":C350 " + mapped + ":2815" + rest,
       "127.0.0.1", "127.0.0.1", 1000},
      {"IPv4 of an IPv4 socket that the listener sees mapped", ends + rest, "::ffff:127.0.0.1",
       "::ffff:127.0.0.1", 1000},
      {"IPv4 of an IPv6 socket that the listener sees mapped",
       "   0: " + mapped + ":C350 " + mapped + ":2815" + rest, "::ffff:127.0.0.1",
       "::ffff:127.0.0.1", 1000},
      {"half closed by its owner", ends + " 05" + columns, "127.0.0.1", "127.0.0.1", 1000},
      {"TIME_WAIT", ends + " 06" + columns, "127.0.0.1", "127.0.0.1", {}},
      {"closed", ends + " 07" + columns, "127.0.0.1", "127.0.0.1", {}},
      {"a listener", ends + " 0A" + columns, "127.0.0.1", "127.0.0.1", {}},
      {"no such state", ends + " 0x" + columns, "127.0.0.1", "127.0.0.1", {}},
      {"an orphan, whose owner is shown as root", ends + orphan, "127.0.0.1", "127.0.0.1", {}},
      {"cut off", "   0: 0100007F:C350 0100007F:2815 01 00000000", "127.0.0.1", "127.0.0.1", {}},
      {"no number",
       "0: 0100007F:C350 0100007F:2815 01 0 0 0 root 0 77",
       "127.0.0.1",
       "127.0.0.1",
       {}},
      {"a number too large",
       "0: 0100007F:C350 0100007F:2815 01 0 0 0 4294967296 0 77",
       "127.0.0.1",
       "127.0.0.1",
       {}},
      {"nothing", "", "127.0.0.1", "127.0.0.1", {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const tcp::endpoint source(ip::make_address(c.source), 50000);
    const tcp::endpoint destination(ip::make_address(c.destination), 10261);
    std::string table(head);
    table += c.line;
    const auto owner = owner_in_tcp_table(table, {.source = source, .destination = destination});
    EXPECT_EQ(owner ? std::optional(owner->uid) : std::nullopt, c.owner);
    EXPECT_TRUE(!owner || owner->inode == 77U);
  }
}

TEST(TcpTable, OfTheRunningKernelKnowsOurSockets) {
  boost::asio::io_context context;
  for (const char* address : {"127.0.0.1", "::1"}) {
    SCOPED_TRACE(address);
    tcp::acceptor acceptor(context, tcp::endpoint(ip::make_address(address), 0));
    tcp::socket client(context);
    client.connect(acceptor.local_endpoint());
    const Connected asked{client.local_endpoint(), client.remote_endpoint()};
    const auto owner = owner_in_tcp_tables(asked);
    ASSERT_TRUE(owner);
    EXPECT_EQ(owner->uid, ::getuid());
    EXPECT_NE(owner->inode, 0U);
    const tcp::endpoint elsewhere(client.remote_endpoint().address(), 1);
    EXPECT_EQ(owner_in_tcp_tables({client.local_endpoint(), elsewhere}), std::nullopt);
  }
}

}  // namespace
}  // namespace holdfast::net
