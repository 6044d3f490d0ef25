// The user nobody opens thousands of connections; root and the probes must still be served.

#include <poll.h>

#include <cstdlib>

#include "test/attack/attack_fixture.h"

namespace holdfast::attack {
namespace {

constexpr int crowd = 5000;
constexpr int cloud_crowd = 1500;
// The minimum that must have been opened, even if the victim has closed them since.
constexpr int crowd_min = 500;

// Opens connections, sends part of a request on every second one, and continues to send single
// bytes slowly.
void hold(std::uint16_t port, int count, const Say& say) {
  std::vector<Socket> held;
  for (int i = 0; i < count; ++i) {
    Socket socket = connect_to(port, "127.0.0.1", 1s);
    if (socket.open()) held.push_back(std::move(socket));
  }
  const std::string piece = "GET " + treasure_list + " HTTP/1.1\r\nX: ";
  for (std::size_t i = 0; i < held.size(); i += 2) (void)held[i].send(piece, 10ms);
  say(std::to_string(held.size()));
  for (;;) {
    for (std::size_t i = 0; i < held.size(); i += 2) (void)held[i].send("a", 10ms);
    (void)poll(nullptr, 0, 20);
  }
}

class Crowd : public Attack {
 protected:
  static std::unique_ptr<AttackerProcess> hold_as_nobody(std::uint16_t port, int count) {
    auto attacker = std::make_unique<AttackerProcess>(
        RunAs{.uid = nobody}, [port, count](const Say& say) { hold(port, count, say); });
    const std::string held = attacker->line();
    EXPECT_GE(std::atoi(held.c_str()), crowd_min) << "connections are too few for this attack";
    note(held + " connections taken");
    return attacker;
  }
};

TEST_F(Crowd, RootIsServedWhileNobodyHoldsTheProxysConnections) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  const auto attacker = hold_as_nobody(edge_port, crowd);
  expect_root_is_served();
  EXPECT_TRUE(wait_for_link("connected", 2s));
}

TEST_F(Crowd, RootIsServedWhileNobodyHoldsTheAdminListenersConnections) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  const auto attacker = hold_as_nobody(admin_port, crowd);
  expect_root_is_served();
}

// Each connection uses other invented credentials: the quota must be per user, not per
// token.
TEST_F(Crowd, RootIsServedWhileNobodyInventsCredentialsOnAllConnections) {
  ASSERT_NO_FATAL_FAILURE(start_all());
  const std::uint16_t port = edge_port;
  AttackerProcess attacker({.uid = nobody}, [port](const Say& say) {
    std::vector<Socket> held;
    for (int i = 0; i < 1500; ++i) {
      Socket socket = connect_to(port, "127.0.0.1", 1s);
      if (!socket.open()) continue;
      const std::string token = "invented-" + std::to_string(i);
      (void)socket.send(text_of({.target = treasure_list + "&watch=1", .bearer = token}, port),
                        10ms);
      held.push_back(std::move(socket));
    }
    say(std::to_string(held.size()));
    for (;;) (void)poll(nullptr, 0, 1000);
  });
  EXPECT_GE(std::atoi(attacker.line().c_str()), crowd_min) << "connections";
  expect_root_is_served();
}

TEST_F(Crowd, ProbesAreAnsweredWhileNobodyHoldsTheCloudsConnections) {
  ASSERT_NO_FATAL_FAILURE(start_lab());
  ASSERT_NO_FATAL_FAILURE(start_cloud());
  const auto attacker = hold_as_nobody(cloud_port, cloud_crowd);
  int answered = 0;
  for (int i = 0; i < 10; ++i) {
    const Ask probe{.target = "/healthz", .user_agent = "kube-probe/1.32", .limit = 2s};
    answered += ask(cloud_port, probe).status == 200 ? 1 : 0;
  }
  EXPECT_EQ(answered, 10) << "answers to the liveness probe";
}

}  // namespace
}  // namespace holdfast::attack
