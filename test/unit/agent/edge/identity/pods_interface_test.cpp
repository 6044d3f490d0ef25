// The interface for pods: its settings, and that the agent restores it, in virtual time.

#include "agent/edge/door/pods_interface.h"

#include <gtest/gtest.h>

#include "platform/loop/tasks.h"
#include "test/support/fake_interfaces.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
using test::FakeInterfaces;

TEST(PodsInterfaceOptions, AreYurtHubsAndBadOnesAreNamed) {
  struct Row {
    IdentityOptions options;
    std::string address;  // the address for pods
    std::string problem;  // "": no problem
  };
  const std::string bad_ip = "--dummy-if-ip: \"";
  const std::string bad_name = "--dummy-if-name: \"";
  const Row rows[] = {
      {{}, "none", ""},
      {{.dummy_if_ip = "169.254.2.1"}, "169.254.2.1:10268", ""},
      {{.secure_listen = "", .dummy_if_ip = "169.254.2.1"}, "169.254.2.1:10268", ""},
      {{.secure_listen = "127.0.0.1:20268", .dummy_if_ip = "169.254.2.1"}, "169.254.2.1:20268", ""},
      {{.dummy_if_ip = "fd00:0:0::2:1"}, "[fd00::2:1]:10268", ""},
      {{.enable_dummy_if = false, .dummy_if_ip = "169.254.2.1"}, "none", ""},
      {{.enable_dummy_if = false, .dummy_if_ip = "x"}, "none", ""},
      {{.dummy_if_ip = "x"}, "none", bad_ip + "x\" is neither"},
      {{.dummy_if_ip = "10.0.0.1"}, "10.0.0.1:10268", bad_ip + "10.0.0.1\" is neither"},
      {{.dummy_if_ip = "169.254.1.1"}, "169.254.1.1:10268", bad_ip},
      {{.dummy_if_ip = "169.254.31.7"}, "169.254.31.7:10268", bad_ip},
      {{.dummy_if_ip = "::"}, "[::]:10268", bad_ip},
      {{.dummy_if_ip = "::1"}, "[::1]:10268", bad_ip},
      {{.dummy_if_ip = "169.254.2.1", .dummy_if_name = ""}, "169.254.2.1:10268", bad_name},
      {{.dummy_if_ip = "169.254.2.1", .dummy_if_name = "a-name-of-16-let"},
       "169.254.2.1:10268",
       bad_name},
      {{.dummy_if_ip = "169.254.2.1", .dummy_if_name = "../eth0"}, "169.254.2.1:10268", bad_name},
      {{.dummy_if_ip = "169.254.2.1", .dummy_if_name = "a b"}, "169.254.2.1:10268", bad_name},
      {{.secure_listen = "0.0.0.0:10268", .dummy_if_ip = "169.254.2.1"},
       "169.254.2.1:10268",
       "--dummy-if-ip: pods have no client certificates"},
      {{.secure_listen = "0.0.0.0:10268", .dummy_if_ip = "fd00::2:1"}, "[fd00::2:1]:10268", ""},
      {{.secure_listen = "169.254.2.1:10268", .dummy_if_ip = "169.254.2.1"},
       "169.254.2.1:10268",
       ""},
      {{.secure_listen = "[::]:10268",
        .require_client_certificates = false,
        .dummy_if_ip = "169.254.2.1"},
       "169.254.2.1:10268",
       ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.options.dummy_if_ip + " " + row.options.dummy_if_name);
    const auto address = pods_address(row.options);
    EXPECT_EQ(address ? address->text() : "none", row.address);
    const Status checked = check_pods_interface(row.options);
    EXPECT_EQ(checked.has_value(), row.problem.empty());
    if (!checked) {
      EXPECT_TRUE(checked.error().what.starts_with(row.problem)) << checked.error().what;
    }
  }
}

asio::awaitable<void> end_all(loop::Tasks& tasks) {
  tasks.cancel();
  co_await tasks.join();
}

TEST(PodsInterface, IsMadeAsSoonAsItCanBeAndMadeAgain) {
  test::VirtualTime time;
  FakeInterfaces::State machine;
  machine.refusal = Error{Errc::unavailable, "no such kind"};
  const IdentityOptions options{.dummy_if_ip = "169.254.2.1"};
  PodsInterface pods(options, std::make_unique<FakeInterfaces>(machine), time.clock());
  EXPECT_FALSE(pods.ensure());
  int changes = 0;
  loop::Tasks tasks(time.executor());
  tasks.spawn("keep", pods.keep([&changes] { ++changes; }));
  time.run(150s);
  EXPECT_EQ(changes, 0);
  machine.refusal.reset();
  time.run(60s);
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(machine.operations,
            (std::vector<std::string>{"add dummy yurthub-dummy0", "add 169.254.2.1/32", "up 1"}));
  time.run(10min);
  EXPECT_EQ(machine.operations.size(), 3u) << "an intact interface is left alone";
  machine.devices.clear();  // somebody deletes it
  time.run(60s);
  EXPECT_EQ(machine.operations.size(), 6u);
  EXPECT_EQ(changes, 1) << "the address is the same, so no change is reported";
  machine.devices.clear();
  time.complete(end_all(tasks));
  EXPECT_TRUE(machine.devices.empty()) << "after its end nothing is created";
  EXPECT_TRUE(pods.ensure());
  pods.remove();
  EXPECT_TRUE(machine.devices.empty());
}

}  // namespace
}  // namespace holdfast::agent
