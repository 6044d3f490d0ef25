// What the kernel tells of changes of the network, in a network namespace of the test.

#include "platform/net/network_changes.h"

#include <sched.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

#include "platform/net/interfaces.h"
#include "test/support/system_loop.h"

namespace holdfast::net {
namespace {

using namespace std::chrono_literals;

class Watcher {
 public:
  Watcher() {
    auto opened = NetworkChanges::open(loop_.get_executor());
    EXPECT_TRUE(opened) << opened.error().what;
    if (!opened) return;
    changes_ = *std::move(opened);
    asio::co_spawn(loop_, count(*changes_, changes), [](const std::exception_ptr&) {});
  }

  // Whether there was another change.
  [[nodiscard]] bool sees_change() {
    const int before = changes;
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (changes == before && std::chrono::steady_clock::now() < until) {
      (void)loop_.run_one_for(1s);
    }
    settle();
    return changes > before;
  }
  // Handles what the kernel has told so far, which it does before a call that changes it returns.
  void settle() {
    while (loop_.poll() > 0) {
    }
  }

  int changes = 0;

 private:
  static asio::awaitable<void> count(NetworkChanges& from, int& into) {
    for (;;) {
      const Status changed = co_await from.next();
      if (!changed) co_return;
      ++into;
    }
  }

  test::SystemLoop loop_;
  std::unique_ptr<NetworkChanges> changes_;
};

void play() {
  const auto interfaces = kernel_interfaces();
  const int lo = interfaces->find("lo").value().value().index;
  Watcher watcher;
  watcher.settle();
  EXPECT_EQ(watcher.changes, 0);
  ASSERT_TRUE(interfaces->set_up(lo));
  EXPECT_TRUE(watcher.sees_change()) << "a carrier, an address and its route";
  const InterfaceAddress added{asio::ip::make_address("10.231.78.1"), 24};
  ASSERT_TRUE(interfaces->add_address(lo, added));
  EXPECT_TRUE(watcher.sees_change());
  const int seen = watcher.changes;
  ASSERT_TRUE(interfaces->remove_address(lo, added));
  watcher.settle();
  EXPECT_EQ(watcher.changes, seen) << "that is no better";
  for (const char* each : {"10.231.78.2", "10.231.78.3", "10.231.78.4"}) {
    ASSERT_TRUE(interfaces->add_address(lo, {asio::ip::make_address(each), 24}));
  }
  EXPECT_TRUE(watcher.sees_change());
  EXPECT_EQ(watcher.changes, seen + 1) << "those that come together count as one";
}

TEST(NetworkChanges, AreAddressesRoutesAndCarriers) {
  if (geteuid() != 0) GTEST_SKIP() << "NOT RUN: only root makes a network namespace";
  std::thread inside([] {
    ASSERT_EQ(unshare(CLONE_NEWNET), 0);
    play();
  });
  inside.join();
}

}  // namespace
}  // namespace holdfast::net
