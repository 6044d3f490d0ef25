#include "platform/net/network_changes.h"

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>

#include "platform/fs/descriptor.h"
#include "platform/fs/errno.h"
#include "platform/loop/cancellation.h"
#include "platform/loop/timer.h"
#include "platform/net/network.h"

namespace holdfast::net {
namespace {

constexpr std::size_t message_max = 32768;  // as much as the kernel puts into one message
constexpr int messages_at_once = 100;       // others run between two times as many

class KernelChanges final : public NetworkChanges {
 public:
  KernelChanges(const asio::any_io_executor& executor, Descriptor socket)
      : socket_(executor, socket.release()) {}

  asio::awaitable<Status> next() override {
    for (;;) {
      boost::system::error_code ec;
      co_await socket_.async_wait(asio::posix::stream_descriptor::wait_read, loop::into(ec));
      loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
      if (ec) co_return fail(loop::to_error(ec, "wait for changes of the network"));
      auto better = drain();
      if (!better) co_return fail(better.error());
      Status done;
      if (*better) co_return done;
    }
  }

 private:
  // Takes what the kernel has sent, up to a number. Returns whether some of it made the network
  // better.
  Result<bool> drain() {
    alignas(nlmsghdr) std::array<char, message_max> block{};
    bool better = false;
    for (int taken = 0; taken < messages_at_once; ++taken) {
      sockaddr_nl from{};
      socklen_t size = sizeof from;
      const ssize_t count = recvfrom(socket_.native_handle(), block.data(), block.size(),
                                     MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from), &size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) break;
      // More has happened than fits into the socket's buffer.
      if (count < 0 && errno == ENOBUFS) better = true;
      if (count < 0 && errno != ENOBUFS) return fail_errno("read changes of the network");
      const bool from_kernel = count > 0 && from.nl_pid == 0;
      if (!from_kernel) continue;
      if (take({block.data(), static_cast<std::size_t>(count)})) better = true;
    }
    return better;
  }

  bool take(std::string_view bytes) {
    bool better = false;
    while (bytes.size() >= sizeof(nlmsghdr)) {
      nlmsghdr head{};
      std::memcpy(&head, bytes.data(), sizeof head);
      if (head.nlmsg_len < sizeof head || head.nlmsg_len > bytes.size()) break;
      if (take_one(head, bytes.substr(sizeof head, head.nlmsg_len - sizeof head))) better = true;
      bytes.remove_prefix(std::min<std::size_t>(NLMSG_ALIGN(head.nlmsg_len), bytes.size()));
    }
    return better;
  }

  bool take_one(const nlmsghdr& head, std::string_view body) {
    switch (head.nlmsg_type) {
      case RTM_NEWADDR: {
        // An address of IPv6 is announced again when it may be used.
        ifaddrmsg address{};
        if (body.size() < sizeof address) return false;
        std::memcpy(&address, body.data(), sizeof address);
        return (address.ifa_flags & IFA_F_TENTATIVE) == 0;
      }
      case RTM_NEWROUTE:
        return true;
      case RTM_NEWLINK:
      case RTM_DELLINK: {
        ifinfomsg link{};
        if (body.size() < sizeof link) return false;
        std::memcpy(&link, body.data(), sizeof link);
        const bool runs = head.nlmsg_type == RTM_NEWLINK && (link.ifi_flags & IFF_RUNNING) != 0;
        if (!runs) running_.erase(link.ifi_index);
        return runs && running_.insert(link.ifi_index).second;
      }
      default:
        return false;
    }
  }

  asio::posix::stream_descriptor socket_;
  // The interfaces that have a carrier, as far as that was told. The kernel tells of an interface
  // again whenever something else about it changes.
  std::set<int> running_;
};

}  // namespace

Result<std::unique_ptr<NetworkChanges>> NetworkChanges::open(
    const asio::any_io_executor& executor) {
  return network_of(executor).watch_changes(executor);
}

Result<std::unique_ptr<NetworkChanges>> kernel_network_changes(
    const asio::any_io_executor& executor) {
  Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!socket.is_open()) return fail_errno("open a netlink socket");
  sockaddr_nl at{};
  at.nl_family = AF_NETLINK;
  at.nl_groups =
      RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) {
    return fail_errno("listen for changes of the network");
  }
  return std::unique_ptr<NetworkChanges>(
      std::make_unique<KernelChanges>(executor, std::move(socket)));
}

}  // namespace holdfast::net
