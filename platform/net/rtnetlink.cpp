// The kernel's interfaces over rtnetlink(7), with a new socket for each request.

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <cstring>
#include <functional>
#include <string_view>

#include "platform/fs/descriptor.h"
#include "platform/fs/errno.h"
#include "platform/net/interfaces.h"

namespace holdfast::net {
namespace {

// Appends bytes of a kernel structure, padded to a multiple of four.
void append_padded(std::string& out, const void* bytes, std::size_t size) {
  out.append(static_cast<const char*>(bytes), size);
  out.resize((out.size() + 3) & ~std::size_t{3}, '\0');
}

void append_attribute(std::string& out, unsigned short type, std::string_view bytes) {
  const rtattr head{static_cast<unsigned short>(sizeof(rtattr) + bytes.size()), type};
  append_padded(out, &head, sizeof head);
  append_padded(out, bytes.data(), bytes.size());
}

// A message without its attributes.
template <class Body>
std::string netlink_message(unsigned short type, unsigned flags, const Body& body) {
  nlmsghdr head{};
  head.nlmsg_type = type;
  head.nlmsg_flags = static_cast<unsigned short>(NLM_F_REQUEST | flags);
  std::string out;
  append_padded(out, &head, sizeof head);
  append_padded(out, &body, sizeof body);
  return out;
}

struct RoutePart {
  unsigned short type = 0;
  std::string body;
};

template <class Value>
Value front_of(std::string_view bytes) {
  Value value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

using OnAttribute = std::function<void(unsigned short type, std::string_view value)>;

void each_attribute(std::string_view bytes, const OnAttribute& take) {
  while (bytes.size() >= sizeof(rtattr)) {
    const auto head = front_of<rtattr>(bytes);
    if (head.rta_len < sizeof(rtattr) || head.rta_len > bytes.size()) return;
    constexpr unsigned short type_bits = 0x3fff;  // the rest are flags
    take(head.rta_type & type_bits, bytes.substr(sizeof(rtattr), head.rta_len - sizeof(rtattr)));
    bytes.remove_prefix(std::min(bytes.size(), (head.rta_len + std::size_t{3}) & ~std::size_t{3}));
  }
}

template <class Body>
std::string_view attributes_of(const RoutePart& part) {
  constexpr std::size_t skip = (sizeof(Body) + 3) & ~std::size_t{3};
  return std::string_view(part.body).substr(std::min(skip, part.body.size()));
}

// Appends the messages of one datagram to `parts`; returns true at the end of the reply. Errors:
// the errno.
tl::expected<bool, int> take_datagram(std::string_view bytes, std::vector<RoutePart>& parts) {
  while (bytes.size() >= sizeof(nlmsghdr)) {
    const auto head = front_of<nlmsghdr>(bytes);
    if (head.nlmsg_len < sizeof(nlmsghdr) || head.nlmsg_len > bytes.size()) break;
    const std::string_view body = bytes.substr(sizeof(nlmsghdr), head.nlmsg_len - sizeof(nlmsghdr));
    if (head.nlmsg_type == NLMSG_DONE) return true;
    if (head.nlmsg_type == NLMSG_ERROR) {
      const int error = -front_of<int>(body);
      if (error != 0) return tl::unexpected(error);
      return true;
    }
    parts.push_back({head.nlmsg_type, std::string(body)});
    bytes.remove_prefix(
        std::min(bytes.size(), (head.nlmsg_len + std::size_t{3}) & ~std::size_t{3}));
  }
  return false;
}

// Sends a message and reads the whole reply. Errors: the errno.
tl::expected<std::vector<RoutePart>, int> ask_kernel(std::string message) {
  const auto length = static_cast<std::uint32_t>(std::uint64_t{message.size()});
  std::memcpy(message.data(), &length, sizeof length);
  const Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  // The kernel replies during send(); the timeout is only a safeguard.
  const timeval patience{.tv_sec = 2, .tv_usec = 0};
  if (socket.get() < 0 ||
      setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
      ::send(socket.get(), message.data(), message.size(), 0) < 0) {
    return tl::unexpected(errno);
  }
  std::vector<RoutePart> parts;
  std::string buffer(64UL * 1024, '\0');
  for (;;) {
    const ssize_t count = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (count < 0) return tl::unexpected(errno);
    const auto whole =
        take_datagram(std::string_view(buffer).substr(0, static_cast<std::size_t>(count)), parts);
    if (!whole) return tl::unexpected(whole.error());
    if (*whole) return parts;
  }
}

Error kernel_error(const std::string& doing, int error) {
  Error made = fail_errno(doing, error).value();
  if (error == EPERM) made.what += " (needs CAP_NET_ADMIN)";
  return made;
}

Status tell_kernel(const std::string& doing, const std::string& message) {
  const auto done = ask_kernel(message);
  if (!done) return tl::unexpected(kernel_error(doing, done.error()));
  return {};
}

std::string bytes_of(const asio::ip::address& address) {
  if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    return {bytes.begin(), bytes.end()};
  }
  const auto bytes = address.to_v6().to_bytes();
  return {bytes.begin(), bytes.end()};
}

std::optional<asio::ip::address> address_from(std::string_view bytes) {
  asio::ip::address_v4::bytes_type v4{};
  asio::ip::address_v6::bytes_type v6{};
  if (bytes.size() == v4.size()) {
    std::memcpy(v4.data(), bytes.data(), v4.size());
    return asio::ip::make_address_v4(v4);
  }
  if (bytes.size() != v6.size()) return std::nullopt;
  std::memcpy(v6.data(), bytes.data(), v6.size());
  return asio::ip::make_address_v6(v6);
}

// The IFLA_INFO_KIND of a link's IFLA_LINKINFO attribute.
std::string kind_in(std::string_view link_info) {
  std::string kind;
  each_attribute(link_info, [&kind](unsigned short type, std::string_view value) {
    if (type == IFLA_INFO_KIND) kind = value.substr(0, value.find('\0'));
  });
  return kind;
}

Interface interface_from(const RoutePart& part) {
  const auto head = front_of<ifinfomsg>(part.body);
  Interface found{.index = head.ifi_index, .kind = {}, .up = (head.ifi_flags & IFF_UP) != 0};
  each_attribute(attributes_of<ifinfomsg>(part),
                 [&found](unsigned short type, std::string_view value) {
                   if (type == IFLA_LINKINFO) found.kind = kind_in(value);
                 });
  return found;
}

std::string address_message(unsigned short type, unsigned flags, int index,
                            const InterfaceAddress& address) {
  ifaddrmsg head{};
  head.ifa_family = address.address.is_v4() ? AF_INET : AF_INET6;
  head.ifa_prefixlen = address.prefix_bits;
  // No other machine can have this address, so duplicate address detection is not needed.
  head.ifa_flags = address.address.is_v6() ? IFA_F_NODAD : 0;
  head.ifa_index = static_cast<unsigned>(index);
  std::string message = netlink_message(type, flags | NLM_F_ACK, head);
  const std::string bytes = bytes_of(address.address);
  append_attribute(message, IFA_LOCAL, bytes);
  append_attribute(message, IFA_ADDRESS, bytes);
  return message;
}

class KernelInterfaces final : public Interfaces {
 public:
  Result<std::optional<Interface>> find(const std::string& name) override {
    std::string message = netlink_message(RTM_GETLINK, NLM_F_ACK, ifinfomsg{});
    append_attribute(message, IFLA_IFNAME, std::string_view(name.c_str(), name.size() + 1));
    const auto answer = ask_kernel(std::move(message));
    if (!answer && answer.error() == ENODEV) return std::nullopt;
    if (!answer) return tl::unexpected(kernel_error("look up interface " + name, answer.error()));
    for (const RoutePart& part : *answer) {
      if (part.type == RTM_NEWLINK) return interface_from(part);
    }
    return std::nullopt;
  }

  Result<std::vector<InterfaceAddress>> addresses(int index) override {
    const auto answer = ask_kernel(netlink_message(RTM_GETADDR, NLM_F_DUMP, ifaddrmsg{}));
    if (!answer) return tl::unexpected(kernel_error("list addresses", answer.error()));
    std::vector<InterfaceAddress> found;
    for (const RoutePart& part : *answer) {
      const auto head = front_of<ifaddrmsg>(part.body);
      if (part.type != RTM_NEWADDR || head.ifa_index != static_cast<unsigned>(index)) continue;
      std::optional<asio::ip::address> local;
      std::optional<asio::ip::address> address;
      each_attribute(attributes_of<ifaddrmsg>(part),
                     [&local, &address](unsigned short type, std::string_view value) {
                       if (type == IFA_LOCAL) local = address_from(value);
                       if (type == IFA_ADDRESS) address = address_from(value);
                     });
      if (!local) local = address;  // IPv6 has only IFA_ADDRESS
      if (local) found.push_back({*local, head.ifa_prefixlen});
    }
    return found;
  }

  Status add_dummy(const std::string& name) override {
    std::string message =
        netlink_message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, ifinfomsg{});
    append_attribute(message, IFLA_IFNAME, std::string_view(name.c_str(), name.size() + 1));
    std::string info;
    append_attribute(info, IFLA_INFO_KIND, "dummy");
    append_attribute(message, IFLA_LINKINFO, info);
    const std::string doing = "make interface " + name;
    const auto done = ask_kernel(std::move(message));
    if (done) return {};
    if (done.error() != EOPNOTSUPP) return tl::unexpected(kernel_error(doing, done.error()));
    return fail(Errc::unavailable,
                doing + ": the kernel has no dummy interfaces (load its module `dummy`)");
  }

  Status set_up(int index) override {
    ifinfomsg head{};
    head.ifi_index = index;
    head.ifi_flags = IFF_UP;
    head.ifi_change = IFF_UP;
    return tell_kernel("set the interface up", netlink_message(RTM_NEWLINK, NLM_F_ACK, head));
  }

  Status add_address(int index, const InterfaceAddress& address) override {
    return tell_kernel("add address " + address.address.to_string(),
                       address_message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, index, address));
  }

  Status remove_address(int index, const InterfaceAddress& address) override {
    return tell_kernel("remove address " + address.address.to_string(),
                       address_message(RTM_DELADDR, 0, index, address));
  }

  Status remove(int index) override {
    ifinfomsg head{};
    head.ifi_index = index;
    return tell_kernel("remove the interface", netlink_message(RTM_DELLINK, NLM_F_ACK, head));
  }
};

}  // namespace

std::unique_ptr<Interfaces> kernel_interfaces() { return std::make_unique<KernelInterfaces>(); }

}  // namespace holdfast::net
