#include "agent/lab/hollow/fleet.h"

#include <map>

namespace holdfast::agent::hollow {
namespace {

using namespace std::chrono_literals;
using Kind = NodeWork::Kind;

class HollowFleetTest : public ::testing::Test {
 protected:
  HollowFleetTest() {
    plan_.nodes = {"a", "b", "c", "d"};
    fleet_.emplace(plan_, now_);
  }

  std::optional<NodeWork> next() {
    const auto work = fleet_->next(now_);
    return work ? std::optional(std::get<NodeWork>(*work)) : std::nullopt;
  }

  // Performs everything that is due, successfully; counts it by kind and node.
  std::map<std::pair<Kind, NodeId>, int> perform(Duration length) {
    std::map<std::pair<Kind, NodeId>, int> done;
    for (const MonoTime end = now_ + length; now_ < end; now_ += 100ms) {
      while (const auto work = next()) {
        ++done[{work->kind, work->node}];
        if (work->kind == Kind::register_node) {
          fleet_->registered(work->node, "uid", "1", false);
        } else if (work->kind == Kind::renew) {
          fleet_->renewed(work->node, "2");
        } else {
          fleet_->posted(work->node, "uid");
        }
      }
    }
    return done;
  }

  Plan plan_;
  MonoTime now_{std::chrono::hours(1)};
  std::optional<Fleet> fleet_;
};

TEST_F(HollowFleetTest, EveryNodeIsRegisteredRenewedAndPosted) {
  auto done = perform(10s);
  for (NodeId node = 0; node < 4; ++node) {
    EXPECT_EQ((done[{Kind::register_node, node}]), 1) << node;
  }
  EXPECT_EQ(fleet_->unregistered(), 0U);
  done = perform(100s);
  for (NodeId node = 0; node < 4; ++node) {
    EXPECT_EQ((done[{Kind::renew, node}]), 10) << node;
    EXPECT_EQ((done[{Kind::post_status, node}]), 0) << node;
  }
  (void)perform(190s);
  done = perform(600s);
  for (NodeId node = 0; node < 4; ++node) EXPECT_EQ((done[{Kind::post_status, node}]), 2) << node;
}

TEST_F(HollowFleetTest, ASilentNodeDoesNothingUntilItIsResumed) {
  (void)perform(10s);
  EXPECT_TRUE(fleet_->silence(1, now_));
  EXPECT_FALSE(fleet_->silence(1, now_));
  auto done = perform(600s);
  EXPECT_EQ((done[{Kind::renew, 1}]), 0);
  EXPECT_EQ((done[{Kind::post_status, 1}]), 0);
  EXPECT_EQ((done[{Kind::renew, 0}]), 60);
  EXPECT_TRUE(fleet_->resume(1, now_));
  EXPECT_FALSE(fleet_->resume(1, now_));
  done = perform(100ms);
  EXPECT_EQ((done[{Kind::renew, 1}]), 1) << "at once";
  EXPECT_EQ((done[{Kind::post_status, 1}]), 1);
}

TEST_F(HollowFleetTest, TheStatusIsPostedWhenALinkWorksAgain) {
  (void)perform(10s);
  std::optional<NodeWork> work;
  while (!(work = next())) now_ += 100ms;
  ASSERT_EQ(work->kind, Kind::renew);
  fleet_->renew_failed(work->node);
  EXPECT_EQ(fleet_->node(work->node).lease_version, "");
  auto done = perform(11s);
  EXPECT_EQ((done[{Kind::post_status, work->node}]), 1);
}

TEST_F(HollowFleetTest, ANodeHasOneRenewalAtATime) {
  (void)perform(10s);
  std::map<NodeId, int> begun;
  for (int round = 0; round < 300; ++round, now_ += 100ms) {
    while (const auto work = next()) ++begun[work->node];
  }
  for (const auto& [node, count] : begun) EXPECT_EQ(count, 1) << node;
}

TEST_F(HollowFleetTest, AFailedRegistrationIsTriedAgain) {
  const auto first = next();
  ASSERT_TRUE(first);
  ASSERT_EQ(first->kind, Kind::register_node);
  fleet_->register_failed(first->node, now_);
  const auto done = perform(10s);
  EXPECT_EQ(done.at({Kind::register_node, first->node}), 1);
  EXPECT_EQ(fleet_->unregistered(), 0U);
}

TEST_F(HollowFleetTest, ADeletedNodeIsLeftAlone) {
  (void)perform(10s);
  fleet_->deleted(2);
  auto done = perform(600s);
  EXPECT_EQ((done[{Kind::renew, 2}]), 0);
  EXPECT_EQ((done[{Kind::register_node, 2}]), 0);
}

TEST_F(HollowFleetTest, ARefusedNodeEndsTheRegistration) {
  const auto first = next();
  fleet_->refused(first->node);
  (void)perform(1s);
  EXPECT_EQ(fleet_->unregistered(), 0U);
  EXPECT_EQ(fleet_->node(first->node).state, NodeState::refused);
}

TEST_F(HollowFleetTest, NextDueIsNeverTooLate) {
  for (int turn = 0; turn < 1000; ++turn) {
    const MonoTime due = fleet_->next_due();
    const bool has_work = next().has_value();
    EXPECT_FALSE(has_work && due > now_) << turn;
    if (!has_work) now_ = std::max(now_, due);
  }
}

}  // namespace
}  // namespace holdfast::agent::hollow
