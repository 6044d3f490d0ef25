// Network interfaces of this machine: looks them up, assigns addresses, and maintains a dummy
// interface, which gives the machine an address that no network leads to.
//
// All calls are synchronous and wait only for the kernel. Threading: any one thread; the network
// namespace is that of the calling thread.

#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/result.h"

namespace holdfast::net {

namespace asio = boost::asio;

struct Interface {
  int index = 0;
  std::string kind;  // "dummy", "bridge"; empty for hardware and loopback
  bool up = false;

  bool operator==(const Interface&) const = default;
};

struct InterfaceAddress {
  asio::ip::address address;
  std::uint8_t prefix_bits = 0;

  bool operator==(const InterfaceAddress&) const = default;
};

// Errors of all functions: denied (CAP_NET_ADMIN is missing), unavailable (not supported by the
// kernel, or the interface no longer exists), naming what was attempted.
class Interfaces {
 public:
  virtual ~Interfaces() = default;
  // Returns nothing if no interface has this name.
  virtual Result<std::optional<Interface>> find(const std::string& name) = 0;
  virtual Result<std::vector<InterfaceAddress>> addresses(int index) = 0;
  virtual Status add_dummy(const std::string& name) = 0;
  virtual Status set_up(int index) = 0;
  // The address is usable at once. Adding an address that exists is not an error.
  virtual Status add_address(int index, const InterfaceAddress& address) = 0;
  virtual Status remove_address(int index, const InterfaceAddress& address) = 0;
  virtual Status remove(int index) = 0;
};

// The kernel's interfaces, accessed over rtnetlink.
[[nodiscard]] std::unique_ptr<Interfaces> kernel_interfaces();

struct DummyInterface {
  std::string name;  // at most interface_name_max
  asio::ip::address address;
};
inline constexpr std::size_t interface_name_max = 15;  // IFNAMSIZ without the final zero

enum class DummyChange : std::uint8_t { none, made, changed };

// Ensures that the interface exists, is up and has the address. A dummy interface gets it as its
// only address. An interface of another kind belongs to other software: the address is only added.
[[nodiscard]] Result<DummyChange> ensure(Interfaces& interfaces, const DummyInterface& wanted);

// Reverts ensure(): removes a dummy interface, and only the address from an interface of another
// kind. It is not an error if there is nothing to remove.
[[nodiscard]] Status remove(Interfaces& interfaces, const DummyInterface& wanted);

}  // namespace holdfast::net
