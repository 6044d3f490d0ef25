// Fake network interfaces in memory, which record the changes that were made to them.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/net/interfaces.h"

namespace holdfast::test {

class FakeInterfaces final : public net::Interfaces {
 public:
  struct Device {
    net::Interface interface;
    std::vector<net::InterfaceAddress> addresses;
  };
  struct State {
    std::map<std::string, Device> devices;
    std::vector<std::string> operations;  // changes: "add dummy a", "up 1", "add 10.0.0.1/32"
    std::optional<Error> refusal;         // if set, every change fails with it
  };

  // `state` is borrowed.
  explicit FakeInterfaces(State& state) : state_(state) {}

  Result<std::optional<net::Interface>> find(const std::string& name) override {
    const auto at = state_.devices.find(name);
    if (at == state_.devices.end()) return std::nullopt;
    return at->second.interface;
  }
  Result<std::vector<net::InterfaceAddress>> addresses(int index) override {
    return device(index).addresses;
  }
  Status add_dummy(const std::string& name) override {
    if (auto done = change("add dummy " + name); !done) return done;
    const int index = static_cast<int>(state_.devices.size()) + 1;
    state_.devices[name].interface = {.index = index, .kind = "dummy", .up = false};
    return {};
  }
  Status set_up(int index) override {
    if (auto done = change("up " + std::to_string(index)); !done) return done;
    device(index).interface.up = true;
    return {};
  }
  Status add_address(int index, const net::InterfaceAddress& address) override {
    if (auto done = change("add " + text(address)); !done) return done;
    device(index).addresses.push_back(address);
    return {};
  }
  Status remove_address(int index, const net::InterfaceAddress& address) override {
    if (auto done = change("remove " + text(address)); !done) return done;
    std::erase(device(index).addresses, address);
    return {};
  }
  Status remove(int index) override {
    if (auto done = change("remove " + std::to_string(index)); !done) return done;
    std::erase_if(state_.devices,
                  [index](const auto& each) { return each.second.interface.index == index; });
    return {};
  }

 private:
  static std::string text(const net::InterfaceAddress& address) {
    return address.address.to_string() + "/" + std::to_string(address.prefix_bits);
  }
  Status change(const std::string& operation) {
    if (state_.refusal) return fail(operation, *state_.refusal);
    state_.operations.push_back(operation);
    return {};
  }
  Device& device(int index) {
    for (auto& [name, each] : state_.devices) {
      if (each.interface.index == index) return each;
    }
    ADD_FAILURE() << "no interface " << index;
    static Device none;
    return none;
  }

  State& state_;
};

}  // namespace holdfast::test
