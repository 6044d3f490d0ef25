// The machine's network interfaces, as far as giving one an address needs, and a dummy interface
// that is kept as it should be: an address of this machine that no cable leads to.
//
// Everything is done at once and waits for nobody but the kernel. Threading: any one thread; the
// network namespace is that of the thread that calls.

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
  std::string kind;  // "dummy", "bridge"; empty for hardware and the loopback
  bool up = false;

  bool operator==(const Interface&) const = default;
};

struct InterfaceAddress {
  asio::ip::address address;
  std::uint8_t prefix_bits = 0;

  bool operator==(const InterfaceAddress&) const = default;
};

// Errors of all: denied (CAP_NET_ADMIN is missing), unavailable (the kernel can't, or has no such
// interface any more), naming what was tried.
class Interfaces {
 public:
  virtual ~Interfaces() = default;
  // Nothing: there is none of that name.
  virtual Result<std::optional<Interface>> find(const std::string& name) = 0;
  virtual Result<std::vector<InterfaceAddress>> addresses(int index) = 0;
  virtual Status add_dummy(const std::string& name) = 0;
  virtual Status set_up(int index) = 0;
  // Usable at once; adding one that is there is no error.
  virtual Status add_address(int index, const InterfaceAddress& address) = 0;
  virtual Status remove_address(int index, const InterfaceAddress& address) = 0;
  virtual Status remove(int index) = 0;
};

// Those of the kernel, over rtnetlink.
[[nodiscard]] std::unique_ptr<Interfaces> kernel_interfaces();

struct DummyInterface {
  std::string name;  // at most interface_name_max
  asio::ip::address address;
};
inline constexpr std::size_t interface_name_max = 15;  // IFNAMSIZ without the final zero

enum class DummyChange : std::uint8_t { none, made, changed };

// Makes sure that the interface is there, up, and has the address, as the only one if it is a
// dummy. One of another kind is somebody else's and is only given the address besides.
[[nodiscard]] Result<DummyChange> ensure(Interfaces& interfaces, const DummyInterface& wanted);

// The reverse: a dummy goes, from another interface only the address does. Nothing to do is no
// error.
[[nodiscard]] Status remove(Interfaces& interfaces, const DummyInterface& wanted);

}  // namespace holdfast::net
