#include "agent/lab/hollow/pods.h"

namespace holdfast::agent::hollow {
namespace {

using namespace std::chrono_literals;

sync::Pod pending_pod(const std::string& restart_policy = "Always") {
  sync::Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = "web";
  pod.metadata.uid = "u1";
  pod.spec.restart_policy = restart_policy;
  pod.spec.containers.push_back({.name = "main", .image = "nginx"});
  pod.status.phase = "Pending";
  return pod;
}

void make_running(sync::Pod& pod, const std::string& ready) {
  pod.status.phase = "Running";
  pod.status.conditions = {{.type = "Ready", .status = ready}};
}

class HollowPodsTest : public ::testing::Test {
 protected:
  // The step that is due now, or nothing.
  std::optional<PodStep> due() {
    const auto next = pods_.next(now_, [this](NodeId) { return silent_; });
    if (!next) return std::nullopt;
    work_ = next;
    return next->step;
  }
  void done() { pods_.done(*work_, "u1", now_); }

  Plan plan_;
  Pods pods_{plan_};
  MonoTime now_{std::chrono::hours(1)};
  bool silent_ = false;
  std::optional<PodWork> work_;  // the last one
};

TEST_F(HollowPodsTest, ABoundPodRunsAfterTheStartTime) {
  pods_.set(pending_pod(), 0, now_);
  EXPECT_EQ(due(), std::nullopt);
  now_ += plan_.pods_start;
  EXPECT_EQ(due(), PodStep::start);
  EXPECT_EQ(due(), std::nullopt) << "it is being performed";
  done();
  now_ += 1h;
  EXPECT_EQ(due(), std::nullopt) << "it runs until it is deleted";
}

TEST_F(HollowPodsTest, AChangeDoesNotDelayAStep) {
  pods_.set(pending_pod(), 0, now_);
  now_ += plan_.pods_start - 1ms;
  pods_.set(pending_pod(), 0, now_);
  now_ += 1ms;
  EXPECT_EQ(due(), PodStep::start);
}

TEST_F(HollowPodsTest, AJobsPodSucceedsAfterItsLifetime) {
  sync::Pod pod = pending_pod("Never");
  make_running(pod, "True");
  pods_.set(pod, 0, now_);
  EXPECT_EQ(due(), std::nullopt);
  now_ += plan_.pod_lifetime;
  EXPECT_EQ(due(), PodStep::finish);
  done();
  EXPECT_EQ(due(), std::nullopt);
}

TEST_F(HollowPodsTest, ADeletionIsConfirmedOnceAfterTheStopTime) {
  sync::Pod pod = pending_pod();
  make_running(pod, "True");
  pod.metadata.deletion_timestamp = WallTime();
  pod.metadata.deletion_grace_period_seconds = 30;
  pods_.set(pod, 0, now_);
  EXPECT_EQ(due(), std::nullopt);
  now_ += plan_.pods_stop;
  EXPECT_EQ(due(), PodStep::remove);
  done();
  pod.metadata.deletion_grace_period_seconds = 0;
  pods_.set(pod, 0, now_);
  EXPECT_EQ(due(), std::nullopt) << "a finalizer keeps the object";
}

TEST_F(HollowPodsTest, AGraceOfZeroNeedsNoStopTime) {
  sync::Pod pod = pending_pod();
  make_running(pod, "True");
  pod.metadata.deletion_timestamp = WallTime();
  pod.metadata.deletion_grace_period_seconds = 0;
  pods_.set(pod, 0, now_);
  EXPECT_EQ(due(), PodStep::remove);
}

TEST_F(HollowPodsTest, APodThatWasMarkedNotReadyIsReportedAgain) {
  sync::Pod pod = pending_pod();
  make_running(pod, "False");
  pods_.set(pod, 0, now_);
  EXPECT_EQ(due(), PodStep::start);
}

TEST_F(HollowPodsTest, ASilentNodeKeepsItsStepsUntilItIsResumed) {
  silent_ = true;
  pods_.set(pending_pod(), 7, now_);
  now_ += plan_.pods_start;
  EXPECT_EQ(due(), std::nullopt);
  silent_ = false;
  now_ += 1h;
  EXPECT_EQ(due(), std::nullopt);
  pods_.resume(7, now_);
  EXPECT_EQ(due(), PodStep::start);
  done();
  EXPECT_EQ(due(), std::nullopt);
}

TEST_F(HollowPodsTest, AFailedStepIsTriedAgain) {
  pods_.set(pending_pod(), 0, now_);
  now_ += plan_.pods_start;
  EXPECT_EQ(due(), PodStep::start);
  pods_.failed(*work_, "u1", now_);
  EXPECT_EQ(due(), std::nullopt);
  now_ += 10s;
  EXPECT_EQ(due(), PodStep::start);
}

TEST_F(HollowPodsTest, ANewPodOfTheSameNameStartsAnew) {
  pods_.set(pending_pod(), 0, now_);
  now_ += plan_.pods_start;
  ASSERT_EQ(due(), PodStep::start);
  sync::Pod next = pending_pod();
  next.metadata.uid = "u2";
  pods_.set(next, 1, now_);
  done();  // of the old one
  EXPECT_EQ(pods_.find("default/web")->phase, HollowPod::Phase::pending);
  now_ += plan_.pods_start;
  EXPECT_EQ(due(), PodStep::start);
  EXPECT_EQ(pods_.find("default/web")->node, 1U);
}

TEST_F(HollowPodsTest, ARemovedPodNeedsNothing) {
  pods_.set(pending_pod(), 0, now_);
  pods_.remove("default/web");
  now_ += 1h;
  EXPECT_EQ(due(), std::nullopt);
}

}  // namespace
}  // namespace holdfast::agent::hollow
