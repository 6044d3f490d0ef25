#include "platform/net/peer_uid.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstring>

#include "platform/fs/descriptor.h"
#include "platform/net/tcp_table.h"

namespace holdfast::net {
namespace {

using boost::asio::ip::tcp;

struct Question {
  nlmsghdr header{};
  inet_diag_req_v2 body{};
};

void put_address(__be32 (&into)[4], const boost::asio::ip::address& address) {
  if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    std::memcpy(into, bytes.data(), bytes.size());
  } else {
    const auto bytes = address.to_v6().to_bytes();
    std::memcpy(into, bytes.data(), bytes.size());
  }
}

// About the peer's socket, so its source is our remote end.
Question question_for(const tcp::endpoint& source, const tcp::endpoint& destination) {
  Question question;
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.body.sdiag_family = source.address().is_v4() ? AF_INET : AF_INET6;
  question.body.sdiag_protocol = IPPROTO_TCP;
  question.body.idiag_states = ~0U;
  question.body.id.idiag_sport = htons(source.port());
  question.body.id.idiag_dport = htons(destination.port());
  question.body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  question.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  put_address(question.body.id.idiag_src, source.address());
  put_address(question.body.id.idiag_dst, destination.address());
  return question;
}

std::optional<std::uint32_t> ask_sock_diag(const tcp::endpoint& source,
                                           const tcp::endpoint& destination) {
  const Descriptor netlink(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  const Question question = question_for(source, destination);
  if (netlink.get() < 0 || send(netlink.get(), &question, sizeof question, 0) < 0) {
    return std::nullopt;
  }
  alignas(nlmsghdr) std::array<char, 1024> answer{};
  const ssize_t count = recv(netlink.get(), answer.data(), answer.size(), 0);
  if (count < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(inet_diag_msg)))) return std::nullopt;
  nlmsghdr header{};
  std::memcpy(&header, answer.data(), sizeof header);
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
  inet_diag_msg message{};
  std::memcpy(&message, answer.data() + NLMSG_HDRLEN, sizeof message);
  return message.idiag_uid;
}

}  // namespace

std::optional<std::uint32_t> loopback_peer_uid(const tcp::socket& socket) {
  boost::system::error_code ec;
  const tcp::endpoint remote = socket.remote_endpoint(ec);
  if (ec || !remote.address().is_loopback()) return std::nullopt;
  const tcp::endpoint local = socket.local_endpoint(ec);
  if (ec) return std::nullopt;

  // "No such socket" and "no such service" are the same answer; the first real one tells.
  static std::atomic<bool> has_sock_diag = false;
  const auto owner = ask_sock_diag(remote, local);
  if (owner) has_sock_diag = true;
  return owner || has_sock_diag ? owner : owner_in_tcp_tables(remote, local);
}

}  // namespace holdfast::net
