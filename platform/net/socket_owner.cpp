#include "platform/net/socket_owner.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstring>

#include "platform/fs/descriptor.h"
#include "platform/net/tcp_table.h"

namespace holdfast::net {
namespace {

namespace ip = boost::asio::ip;
using ip::tcp;

struct Question {
  nlmsghdr header{};
  inet_diag_req_v2 body{};
};

void put_address(__be32 (&into)[4], const ip::address& address) {
  if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    std::memcpy(into, bytes.data(), bytes.size());
  } else {
    const auto bytes = address.to_v6().to_bytes();
    std::memcpy(into, bytes.data(), bytes.size());
  }
}

Question question_for(const Connected& asked, std::uint32_t sequence) {
  Question question;
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.header.nlmsg_seq = sequence;
  question.body.sdiag_family = asked.source.address().is_v4() ? AF_INET : AF_INET6;
  question.body.sdiag_protocol = IPPROTO_TCP;
  question.body.idiag_states = ~0U;
  question.body.id.idiag_sport = htons(asked.source.port());
  question.body.id.idiag_dport = htons(asked.destination.port());
  question.body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  question.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  put_address(question.body.id.idiag_src, asked.source.address());
  put_address(question.body.id.idiag_dst, asked.destination.address());
  return question;
}

// An IPv6 socket that is connected to an IPv4 address is recorded with mapped addresses.
ip::address unmapped(const ip::address& address) {
  const bool mapped = address.is_v6() && address.to_v6().is_v4_mapped();
  return mapped ? ip::make_address_v4(ip::v4_mapped, address.to_v6()) : address;
}

ip::address address_of(std::uint8_t family, const __be32 (&from)[4]) {
  if (family == AF_INET) {
    ip::address_v4::bytes_type bytes{};
    std::memcpy(bytes.data(), from, bytes.size());
    return ip::address_v4(bytes);
  }
  ip::address_v6::bytes_type bytes{};
  std::memcpy(bytes.data(), from, bytes.size());
  return unmapped(ip::address_v6(bytes));
}

bool is_end(const tcp::endpoint& end, std::uint8_t family, const __be32 (&address)[4],
            __be16 port) {
  return end.port() == ntohs(port) && unmapped(end.address()) == address_of(family, address);
}

std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return low | (static_cast<std::uint64_t>(high) << 32U);
}

// The 64-bit value of the attribute of this type; 0 if there is none.
std::uint64_t attribute(std::span<const char> attributes, unsigned short type) {
  while (attributes.size() >= sizeof(rtattr)) {
    rtattr head{};
    std::memcpy(&head, attributes.data(), sizeof head);
    if (head.rta_len < sizeof head || head.rta_len > attributes.size()) return 0;
    std::uint64_t value = 0;
    if (head.rta_type == type && head.rta_len == RTA_LENGTH(sizeof value)) {
      std::memcpy(&value, attributes.data() + RTA_LENGTH(0), sizeof value);
      return value;
    }
    const std::size_t step = RTA_ALIGN(head.rta_len);
    if (step >= attributes.size()) return 0;
    attributes = attributes.subspan(step);
  }
  return 0;
}

// The thread's sock_diag socket. It is kept, because every request of a local caller uses it.
class SockDiag {
 public:
  SockDiag() : socket_(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)) {}

  std::optional<SocketOwner> ask(const Connected& asked) {
    const Question question = question_for(asked, ++sequence_);
    if (socket_.get() < 0 || send(socket_.get(), &question, sizeof question, 0) < 0) {
      return std::nullopt;
    }
    // The kernel has replied when send() returns. Replies to earlier requests are skipped.
    alignas(nlmsghdr) std::array<char, 2048> answer{};
    for (;;) {
      sockaddr_nl from{};
      socklen_t from_size = sizeof from;
      const ssize_t count = recvfrom(socket_.get(), answer.data(), answer.size(), MSG_DONTWAIT,
                                     reinterpret_cast<sockaddr*>(&from), &from_size);
      if (count < static_cast<ssize_t>(sizeof(nlmsghdr))) return std::nullopt;
      // A process with CAP_NET_ADMIN can send messages to this socket, too; the kernel's port is 0.
      if (from_size != sizeof from || from.nl_pid != 0) continue;
      nlmsghdr header{};
      std::memcpy(&header, answer.data(), sizeof header);
      if (header.nlmsg_seq != sequence_) continue;
      return read_sock_diag(std::span(answer.data(), static_cast<std::size_t>(count)), asked);
    }
  }

 private:
  Descriptor socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace

bool has_live_owner(std::uint8_t state) {
  return state == TCP_ESTABLISHED || state == TCP_FIN_WAIT1 || state == TCP_FIN_WAIT2 ||
         state == TCP_CLOSE_WAIT;
}

std::optional<SocketOwner> read_sock_diag(std::span<const char> answer, const Connected& asked) {
  constexpr std::size_t fixed = NLMSG_LENGTH(sizeof(inet_diag_msg));
  nlmsghdr header{};
  if (answer.size() < fixed) return std::nullopt;
  std::memcpy(&header, answer.data(), sizeof header);
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
  if (header.nlmsg_len < fixed || header.nlmsg_len > answer.size()) return std::nullopt;
  inet_diag_msg message{};
  std::memcpy(&message, answer.data() + NLMSG_HDRLEN, sizeof message);
  const inet_diag_sockid& id = message.id;
  const bool exact = is_end(asked.source, message.idiag_family, id.idiag_src, id.idiag_sport) &&
                     is_end(asked.destination, message.idiag_family, id.idiag_dst, id.idiag_dport);
  if (!exact || message.idiag_inode == 0 || !has_live_owner(message.idiag_state)) {
    return std::nullopt;
  }
  const auto attributes = answer.first(header.nlmsg_len).subspan(fixed);
  return SocketOwner{.uid = message.idiag_uid,
                     .inode = message.idiag_inode,
                     .cookie = joined(id.idiag_cookie[0], id.idiag_cookie[1]),
                     .cgroup = attribute(attributes, INET_DIAG_CGROUP_ID)};
}

std::optional<SocketOwner> owner_of_loopback_peer(const tcp::socket& socket) {
  boost::system::error_code ec;
  const tcp::endpoint remote = socket.remote_endpoint(ec);
  if (ec || !unmapped(remote.address()).is_loopback()) return std::nullopt;
  const tcp::endpoint local = socket.local_endpoint(ec);
  if (ec) return std::nullopt;

  // Without sock_diag the kernel replies as if there were no such socket. The first success shows
  // that the service exists.
  static std::atomic<bool> has_sock_diag = false;
  thread_local SockDiag sock_diag;
  // The question is about the peer's socket, whose source is our remote end.
  const Connected asked{.source = remote, .destination = local};
  const auto owner = sock_diag.ask(asked);
  if (owner) has_sock_diag = true;
  return owner || has_sock_diag ? owner : owner_in_tcp_tables(asked);
}

}  // namespace holdfast::net
