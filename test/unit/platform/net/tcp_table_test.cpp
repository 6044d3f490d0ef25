// The kernel's table of sockets, and the one of the running kernel.

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
  const std::string rest = " 01 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 20 4\n";
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
      {"cut off", "   0: 0100007F:C350 0100007F:2815 01 00000000", "127.0.0.1", "127.0.0.1", {}},
      {"no number", "0: 0100007F:C350 0100007F:2815 01 0 0 0 root", "127.0.0.1", "127.0.0.1", {}},
      {"a number too large",
       "0: 0100007F:C350 0100007F:2815 01 0 0 0 4294967296",
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
    EXPECT_EQ(owner_in_tcp_table(table, source, destination), c.owner);
  }
}

TEST(TcpTable, OfTheRunningKernelKnowsOurSockets) {
  boost::asio::io_context context;
  for (const char* address : {"127.0.0.1", "::1"}) {
    SCOPED_TRACE(address);
    tcp::acceptor acceptor(context, tcp::endpoint(ip::make_address(address), 0));
    tcp::socket client(context);
    client.connect(acceptor.local_endpoint());
    EXPECT_EQ(owner_in_tcp_tables(client.local_endpoint(), client.remote_endpoint()), ::getuid());
    const tcp::endpoint nobody(client.remote_endpoint().address(), 1);
    EXPECT_EQ(owner_in_tcp_tables(client.local_endpoint(), nobody), std::nullopt);
  }
}

}  // namespace
}  // namespace holdfast::net
