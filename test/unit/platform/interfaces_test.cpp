// Creating a dummy interface, whatever exists already: the rules, on fake interfaces in memory.

#include "platform/net/interfaces.h"

#include <gtest/gtest.h>

#include "test/support/fake_interfaces.h"

namespace holdfast::net {
namespace {

using test::FakeInterfaces;

InterfaceAddress address_of(const char* text, std::uint8_t bits) {
  return {asio::ip::make_address(text), bits};
}

const InterfaceAddress ours = address_of("169.254.2.1", 32);
const InterfaceAddress ours_v6 = address_of("fd00::2:1", 128);
const InterfaceAddress stale = address_of("169.254.2.9", 32);
const InterfaceAddress wide = address_of("169.254.2.1", 16);
const InterfaceAddress link_local = address_of("fe80::1", 64);

struct InterfaceRow {
  std::string name;
  std::map<std::string, FakeInterfaces::Device> devices;
  asio::ip::address wanted = ours.address;
  DummyChange change = DummyChange::none;
  std::vector<std::string> operations = {};
  std::vector<std::string> undone = {};  // the changes that remove() then makes
};

FakeInterfaces::Device device_of(std::string kind, bool up,
                                 std::vector<InterfaceAddress> addresses) {
  return {.interface = {.index = 7, .kind = std::move(kind), .up = up},
          .addresses = std::move(addresses)};
}

TEST(DummyInterface, IsBroughtToWhatItShouldBe) {
  const InterfaceRow rows[] = {
      {.name = "nothing is there",
       .devices = {},
       .change = DummyChange::made,
       .operations = {"add dummy d", "add 169.254.2.1/32", "up 1"},
       .undone = {"remove 1"}},
      {.name = "all is there",
       .devices = {{"d", device_of("dummy", true, {ours, link_local})}},
       .undone = {"remove 7"}},
      {.name = "the same address with another length is good enough",
       .devices = {{"d", device_of("dummy", true, {wide})}},
       .undone = {"remove 7"}},
      {.name = "it is down",
       .devices = {{"d", device_of("dummy", false, {ours})}},
       .change = DummyChange::changed,
       .operations = {"up 7"},
       .undone = {"remove 7"}},
      {.name = "it has another address",
       .devices = {{"d", device_of("dummy", true, {stale, link_local})}},
       .change = DummyChange::changed,
       .operations = {"add 169.254.2.1/32", "remove 169.254.2.9/32"},
       .undone = {"remove 7"}},
      {.name = "it has one of the other family",
       .devices = {{"d", device_of("dummy", true, {ours, link_local})}},
       .wanted = ours_v6.address,
       .change = DummyChange::changed,
       .operations = {"add fd00::2:1/128", "remove 169.254.2.1/32"},
       .undone = {"remove 7"}},
      {.name = "what is not a dummy keeps what it has",
       .devices = {{"d", device_of("bridge", true, {stale})}},
       .change = DummyChange::changed,
       .operations = {"add 169.254.2.1/32"},
       .undone = {"remove 169.254.2.1/32"}},
      {.name = "others are left alone",
       .devices = {{"eth0", device_of("", true, {ours})}},
       .change = DummyChange::made,
       .operations = {"add dummy d", "add 169.254.2.1/32", "up 2"},
       .undone = {"remove 2"}},
  };
  for (const InterfaceRow& row : rows) {
    SCOPED_TRACE(row.name);
    FakeInterfaces::State state{.devices = row.devices, .operations = {}, .refusal = {}};
    FakeInterfaces machine(state);
    const DummyInterface wanted{"d", row.wanted};
    const auto done = ensure(machine, wanted);
    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(*done, row.change);
    EXPECT_EQ(state.operations, row.operations);
    EXPECT_EQ(ensure(machine, wanted).value(), DummyChange::none)
        << "a second call changes nothing";
    state.operations.clear();
    EXPECT_TRUE(remove(machine, wanted));
    EXPECT_EQ(state.operations, row.undone);
    EXPECT_TRUE(remove(machine, wanted)) << "removing a missing interface succeeds";
    EXPECT_EQ(state.operations, row.undone);
  }
}

TEST(DummyInterface, ARefusalIsPassedOnAndChangesNothing) {
  FakeInterfaces::State state;
  state.refusal = Error{Errc::denied, "not permitted"};
  FakeInterfaces machine(state);
  const auto refused = ensure(machine, {"d", ours.address});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::denied);
  EXPECT_EQ(refused.error().what, "add dummy d: not permitted");
  EXPECT_TRUE(state.devices.empty());
}

}  // namespace
}  // namespace holdfast::net
