#include "platform/net/interfaces.h"

#include <algorithm>

namespace holdfast::net {
namespace {

constexpr std::string_view dummy_kind = "dummy";

InterfaceAddress alone(const asio::ip::address& address) {
  return {address, static_cast<std::uint8_t>(address.is_v4() ? 32 : 128)};
}

// The kernel gives such an address to every interface that is up.
bool is_link_local_v6(const asio::ip::address& address) {
  return address.is_v6() && address.to_v6().is_link_local();
}

// Adds the wanted address, and removes all others from a dummy interface. Returns whether it
// changed anything.
Result<bool> settle_addresses(Interfaces& interfaces, const Interface& at,
                              const asio::ip::address& wanted) {
  TRY(const std::vector<InterfaceAddress> held, interfaces.addresses(at.index));
  const auto is_wanted = [&wanted](const InterfaceAddress& each) { return each.address == wanted; };
  bool changed = false;
  if (std::none_of(held.begin(), held.end(), is_wanted)) {
    if (auto added = interfaces.add_address(at.index, alone(wanted)); !added) {
      return fail(added.error());
    }
    changed = true;
  }
  if (at.kind != dummy_kind) return changed;
  for (const InterfaceAddress& each : held) {
    if (is_wanted(each) || is_link_local_v6(each.address)) continue;
    if (auto removed = interfaces.remove_address(at.index, each); !removed) {
      return fail(removed.error());
    }
    changed = true;
  }
  return changed;
}

}  // namespace

Result<DummyChange> ensure(Interfaces& interfaces, const DummyInterface& wanted) {
  TRY(std::optional<Interface> at, interfaces.find(wanted.name));
  const bool was_there = at.has_value();
  if (!was_there) {
    if (auto added = interfaces.add_dummy(wanted.name); !added) return fail(added.error());
    TRY(at, interfaces.find(wanted.name));
    if (!at)
      return fail(Errc::unavailable,
                  "interface " + wanted.name + " disappeared after it was created");
  }
  TRY(bool changed, settle_addresses(interfaces, *at, wanted.address));
  if (!at->up) {
    if (auto set = interfaces.set_up(at->index); !set) return fail(set.error());
    changed = true;
  }
  if (!was_there) return DummyChange::made;
  return changed ? DummyChange::changed : DummyChange::none;
}

Status remove(Interfaces& interfaces, const DummyInterface& wanted) {
  TRY(const std::optional<Interface> at, interfaces.find(wanted.name));
  if (!at) return {};
  if (at->kind == dummy_kind) return interfaces.remove(at->index);
  TRY(const std::vector<InterfaceAddress> held, interfaces.addresses(at->index));
  for (const InterfaceAddress& each : held) {
    if (each.address == wanted.address) return interfaces.remove_address(at->index, each);
  }
  return {};
}

}  // namespace holdfast::net
