// Which records of the kernel identify the owner of a local connection, and which do not.

#include "platform/net/socket_owner.h"

#include <gtest/gtest.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstring>
#include <vector>

#include "platform/net/transport.h"
#include "test/support/real_time.h"

namespace holdfast::net {
namespace {

namespace ip = boost::asio::ip;
using ip::tcp;

// An answer of sock_diag in the kernel's layout.
struct Answer {
  std::uint16_t type = SOCK_DIAG_BY_FAMILY;
  std::uint8_t family = AF_INET;
  std::uint8_t state = TCP_ESTABLISHED;
  std::uint16_t source_port = 50000;
  std::uint16_t destination_port = 10261;
  std::string source = "127.0.0.1";
  std::string destination = "127.0.0.1";
  std::uint32_t inode = 77;
  std::size_t cut = 0;  // number of bytes missing at the end
  std::optional<std::uint64_t> cgroup = 42;

  [[nodiscard]] std::vector<char> bytes() const {
    inet_diag_msg message{};
    message.idiag_family = family;
    message.idiag_state = state;
    message.id.idiag_sport = htons(source_port);
    message.id.idiag_dport = htons(destination_port);
    put(message.id.idiag_src, source);
    put(message.id.idiag_dst, destination);
    message.id.idiag_cookie[0] = 5;
    message.id.idiag_cookie[1] = 1;
    message.idiag_uid = 1000;
    message.idiag_inode = inode;
    std::vector<char> out(NLMSG_LENGTH(sizeof message));
    std::memcpy(out.data() + NLMSG_HDRLEN, &message, sizeof message);
    if (cgroup) append_attribute(out, INET_DIAG_SHUTDOWN, std::uint8_t{0});
    if (cgroup) append_attribute(out, INET_DIAG_CGROUP_ID, *cgroup);
    const nlmsghdr header{.nlmsg_len = static_cast<std::uint32_t>(out.size()),
                          .nlmsg_type = type,
                          .nlmsg_flags = 0,
                          .nlmsg_seq = 1,
                          .nlmsg_pid = 0};
    std::memcpy(out.data(), &header, sizeof header);
    out.resize(out.size() - cut);
    return out;
  }

 private:
  static void put(__be32 (&into)[4], const std::string& text) {
    const auto address = ip::make_address(text);
    if (address.is_v4()) {
      const auto bytes = address.to_v4().to_bytes();
      std::memcpy(into, bytes.data(), bytes.size());
    } else {
      const auto bytes = address.to_v6().to_bytes();
      std::memcpy(into, bytes.data(), bytes.size());
    }
  }
  template <class T>
  static void append_attribute(std::vector<char>& out, unsigned short type, T value) {
    const rtattr head{.rta_len = static_cast<unsigned short>(RTA_LENGTH(sizeof value)),
                      .rta_type = type};
    const std::size_t at = out.size();
    out.resize(at + RTA_SPACE(sizeof value));
    std::memcpy(out.data() + at, &head, sizeof head);
    std::memcpy(out.data() + at + RTA_LENGTH(0), &value, sizeof value);
  }
};

TEST(SocketOwner, OnlyTheExactLiveSocketIdentifiesItsOwner) {
  struct Case {
    const char* what;
    Answer answer;
    bool proves;
  };
  const std::string mapped = "::ffff:127.0.0.1";
  const Case cases[] = {
      {"this connection", {}, true},
      {"half closed by its owner", {.state = TCP_FIN_WAIT2}, true},
      {"IPv4 of an IPv6 socket",
       {.family = AF_INET6, .source = mapped, .destination = mapped},
       true},
      {"without a cgroup", {.cgroup = std::nullopt}, true},
      {"an error", {.type = NLMSG_ERROR}, false},
      {"a listener on the address", {.state = TCP_LISTEN}, false},
      {"TIME_WAIT, which has no owner", {.state = TCP_TIME_WAIT, .inode = 0}, false},
      {"an orphan, which is shown as root's", {.state = TCP_FIN_WAIT2, .inode = 0}, false},
      {"closed", {.state = TCP_CLOSE}, false},
      {"not accepted yet", {.state = TCP_SYN_RECV}, false},
      {"another source port", {.source_port = 50001}, false},
      {"another destination port", {.destination_port = 10262}, false},
      {"another source", {.source = "127.0.0.2"}, false},
      {"another destination", {.destination = "127.0.0.2"}, false},
      {"an unbound destination", {.destination = "0.0.0.0"}, false},
      {"the other end", {.source_port = 10261, .destination_port = 50000}, false},
      {"another family", {.family = AF_INET6, .source = "::1", .destination = "::1"}, false},
      {"cut short", {.cut = 4}, false},
      {"only a header", {.cut = 72 + 20}, false},
  };
  const Connected asked{.source = {ip::make_address("127.0.0.1"), 50000},
                        .destination = {ip::make_address("127.0.0.1"), 10261}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const auto owner = read_sock_diag(c.answer.bytes(), asked);
    EXPECT_EQ(owner.has_value(), c.proves);
    if (!owner) continue;
    const SocketOwner expected{.uid = 1000,
                               .inode = 77,
                               .cookie = (1ULL << 32U) + 5,
                               .cgroup = c.answer.cgroup.value_or(0)};
    EXPECT_EQ(*owner, expected);
  }
}

TEST(SocketOwner, AConnectionKeepsItsOwnerOnlyWhileHeHoldsIt) {
  for (const char* address : {"127.0.0.1", "::1"}) {
    SCOPED_TRACE(address);
    test::run_in_real_time([address](asio::io_context& context) -> asio::awaitable<void> {
      auto listener = Listener::open(context.get_executor(), {address, 0}, nullptr).value();
      auto client = std::make_unique<tcp::socket>(context);
      const tcp::endpoint there(ip::make_address(address), listener->port());
      client->connect(there);
      auto pending = co_await listener->accept();
      EXPECT_TRUE(pending);
      if (!pending) co_return;
      EXPECT_EQ((*pending)->peer().local_address, address);
      EXPECT_EQ((*pending)->peer().local_port, listener->port());
      auto accepted = co_await (*pending)->establish(MonoTime::max());
      EXPECT_TRUE(accepted);
      if (!accepted) co_return;
      Connection& connection = **accepted;
      EXPECT_TRUE(connection.peer().owner);
      if (!connection.peer().owner) co_return;
      EXPECT_EQ(connection.peer().owner->uid, ::getuid());
      EXPECT_NE(connection.peer().owner->inode, 0U);
      connection.confirm_owner();
      EXPECT_TRUE(connection.peer().owner) << "the owner still exists";
      client->shutdown(tcp::socket::shutdown_send);
      connection.confirm_owner();
      EXPECT_TRUE(connection.peer().owner) << "the owner waits for the answer";
      client.reset();
      connection.confirm_owner();
      EXPECT_FALSE(connection.peer().owner) << "no process holds the socket";
    });
  }
}

TEST(SocketOwner, AListenersAddressIsItsOwn) {
  asio::io_context context;
  const auto listener = Listener::open(context.get_executor(), {"127.0.0.1", 0}, nullptr).value();
  tcp::socket second(context);
  second.open(tcp::v4());
  second.set_option(asio::socket_base::reuse_address(true));
  boost::system::error_code ec;
  second.bind({ip::make_address("127.0.0.1"), listener->port()}, ec);
  EXPECT_EQ(ec, asio::error::address_in_use);
}

}  // namespace
}  // namespace holdfast::net
