// How a server divides its connections and its memory among its callers.

#include "platform/http/shares.h"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::http {
namespace {

constexpr ShareLimits limits{.connections = 16, .bytes = 1200};

net::Peer user(std::uint32_t uid) {
  return {.address = "127.0.0.1", .owner = net::SocketOwner{.uid = uid, .inode = 1}};
}
net::Peer host(const std::string& address) { return {.address = address}; }

TEST(Shares, ACallerIsAUserOrANetwork) {
  EXPECT_EQ(caller_name(user(1000)), "uid 1000");
  EXPECT_EQ(caller_name(host("10.1.2.3")), "10.1.2.3");
  EXPECT_EQ(caller_name(host("::ffff:10.1.2.3")), "10.1.2.3");
  EXPECT_EQ(caller_name(host("2001:db8:0:1:2:3:4:5")), "2001:db8:0:1::/64");
  EXPECT_EQ(caller_name(host("::1")), "::1");
  EXPECT_EQ(caller_name(host("")), "");
}

// How many connections of a peer are admitted, and why no more are.
std::pair<std::size_t, Shares::Room> fill(Shares& shares, const net::Peer& peer, bool trusted,
                                          std::vector<Share>& held) {
  for (std::size_t count = 0;; ++count) {
    Share share;
    const Shares::Room room = shares.enter(peer, trusted, share);
    if (room != Shares::Room::yes) return {count, room};
    held.push_back(std::move(share));
  }
}

TEST(Shares, NoCallerTakesAllConnectionsAndStrangersLeaveAReserve) {
  const auto shares = Shares::make(limits);
  std::vector<Share> held;
  using Room = Shares::Room;
  EXPECT_EQ(fill(*shares, user(1000), false, held), (std::pair{std::size_t{2}, Room::caller_full}));
  EXPECT_EQ(fill(*shares, host("10.0.0.1"), false, held),
            (std::pair{std::size_t{2}, Room::caller_full}));
  for (int i = 2; i <= 5; ++i) {
    const std::string address = "10.0.0." + std::to_string(i);
    EXPECT_EQ(fill(*shares, host(address), false, held).first, 2UL) << address;
  }
  EXPECT_EQ(fill(*shares, host("10.0.0.6"), false, held),
            (std::pair{std::size_t{0}, Room::server_full}));
  EXPECT_EQ(fill(*shares, user(0), true, held), (std::pair{std::size_t{4}, Room::server_full}));
  held.clear();
  EXPECT_EQ(fill(*shares, user(0), true, held), (std::pair{std::size_t{16}, Room::server_full}));
}

TEST(Shares, MemoryIsSharedOutAlike) {
  const auto shares = Shares::make(limits);
  Share first;
  Share second;
  Share other;
  Share third;
  Share root;
  ASSERT_EQ(shares->enter(user(1000), false, first), Shares::Room::yes);
  ASSERT_EQ(shares->enter(user(1000), false, second), Shares::Room::yes);
  ASSERT_EQ(shares->enter(user(1001), false, other), Shares::Room::yes);
  ASSERT_EQ(shares->enter(user(1002), false, third), Shares::Room::yes);
  ASSERT_EQ(shares->enter(user(0), true, root), Shares::Room::yes);
  EXPECT_TRUE(first.take(300));
  EXPECT_TRUE(second.take(100));
  EXPECT_FALSE(second.take(1)) << "one caller may use a third, over all its connections";
  EXPECT_TRUE(other.take(200));
  EXPECT_FALSE(third.take(1)) << "untrusted callers together may use half";
  EXPECT_TRUE(root.take(600)) << "trusted callers may use the rest";
  EXPECT_FALSE(root.take(1));
  first.release_bytes(1000);
  EXPECT_TRUE(second.take(300)) << "returning more than was taken has no effect";
  EXPECT_FALSE(second.take(1));
  second = Share();
  EXPECT_TRUE(third.take(400)) << "the end of a connection returns its memory";
}

TEST(Shares, AConnectionThatProvesToBeTrustedLeavesItsPlaceToOthers) {
  const auto shares = Shares::make(limits);
  std::vector<Share> held;
  ASSERT_EQ(fill(*shares, host("10.0.0.1"), false, held).first, 2U);
  ASSERT_TRUE(held.back().take(400));
  held.back().trust();
  EXPECT_TRUE(held.front().take(400)) << "its bytes are no longer the caller's";
  EXPECT_TRUE(held.back().take(400)) << "and not limited to the caller's third";
  held.front().release_all_bytes();
  for (int i = 0; i < 12; ++i) {
    SCOPED_TRACE(i);
    ASSERT_EQ(fill(*shares, host("10.0.0.1"), false, held),
              (std::pair{std::size_t{1}, Shares::Room::caller_full}));
    held.back().trust();
    held.back().trust();
  }
  EXPECT_EQ(fill(*shares, user(0), true, held),
            (std::pair{std::size_t{2}, Shares::Room::server_full}));
  held.clear();
  EXPECT_EQ(fill(*shares, host("10.0.0.1"), false, held).first, 2U);
  EXPECT_TRUE(held.front().take(400));
}

TEST(Shares, OneLargeAnswerIsLetThroughWhenNothingElseIsUnderWay) {
  const auto shares = Shares::make(limits);
  Share first;
  Share second;
  Share root;
  ASSERT_EQ(shares->enter(user(1000), false, first), Shares::Room::yes);
  ASSERT_EQ(shares->enter(user(1001), false, second), Shares::Room::yes);
  ASSERT_EQ(shares->enter(user(0), true, root), Shares::Room::yes);
  EXPECT_FALSE(first.take_answer(601, 0)) << "more than all untrusted callers may use";
  EXPECT_TRUE(first.take_answer(600, 0));
  EXPECT_FALSE(first.take_answer(500, 0)) << "the same connection is sending another answer";
  EXPECT_FALSE(second.take_answer(1, 0));
  EXPECT_FALSE(root.take_answer(5000, 0)) << "another answer is being sent";
  EXPECT_TRUE(root.take_answer(600, 0));
  root.release_all_bytes();
  first.release_all_bytes();
  ASSERT_TRUE(first.take(10));
  EXPECT_FALSE(first.take_answer(600, 0)) << "the same connection has another request in progress";
  EXPECT_TRUE(first.take_answer(600, 10)) << "its own request does not count";
  EXPECT_EQ(first.bytes(), 610U);
  first.release_all_bytes();
  ASSERT_TRUE(root.take(700));
  EXPECT_FALSE(first.take_answer(600, 0)) << "others use memory at the same time";
  EXPECT_TRUE(first.take_answer(500, 0));
  first.release_all_bytes();
  root.release_all_bytes();
  EXPECT_TRUE(root.take_answer(5000, 0)) << "an answer to a trusted caller may have any size";
}

}  // namespace
}  // namespace holdfast::http
