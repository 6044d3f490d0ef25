// How the scheduler's machine binds the volumes of a pod's claims before it binds the pod.

#include <deque>
#include <utility>

#include "sync/schedule/scheduler.h"
#include "test/unit/sync/schedule/storage_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using namespace std::chrono_literals;
using test::make_claim;
using test::make_volume;

// The machine with nodes a and b and the claim "c" of a class that waits for its first consumer. It
// performs no effect by itself.
class VolumeBindingTest : public testing::Test {
 protected:
  VolumeBindingTest() {
    for (const char* name : {"a", "b"}) feed(test::make_node(name));
    feed(test::make_class("wait", "WaitForFirstConsumer"));
    feed(test::make_class("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner"));
    give(StorageMissing{});
  }
  ~VolumeBindingTest() override { machine_.state().check_invariants(); }

  void give(const Scheduler::Input& input) {
    auto step = machine_.step({now_, test::wall_now}, input);
    for (Effect& effect : step.effects) {
      if (std::holds_alternative<RecordEvent>(effect.what)) {
        events_.push_back(std::get<RecordEvent>(effect.what).note);
      } else {
        effects_.push_back(std::move(effect));
      }
    }
    deadline_ = step.deadline;
  }
  template <class T>
  void feed(const T& object) {
    give(control::Changed<T>{object});
  }
  void pass(Duration duration = Duration::zero()) {
    now_ += duration;
    give(control::TimePassed{});
  }
  // Adds a pod that uses the claim "c", and makes an attempt.
  void add_pod(const std::string& name, const std::string& claim = "c") {
    Pod pod = test::make_pod(name, 0, "100");
    test::use_claim(pod, claim);
    feed(pod);
    pass();
  }
  // The oldest effect, which must be of this type.
  template <class T>
  T take() {
    if (effects_.empty() || !std::holds_alternative<T>(effects_.front().what)) {
      ADD_FAILURE() << effects_.size() << " effects, and the first is another one";
      return {};
    }
    taken_ = std::move(effects_.front());
    effects_.pop_front();
    return std::get<T>(taken_.what);
  }
  void settle(std::optional<Errc> error = std::nullopt) {
    const Effect effect = taken_;
    const Outcome outcome{error, error ? "refused" : ""};
    give(Scheduler::Performed{effect, outcome});
  }
  // A pod that waits for its volume gives its node back after `end`.
  void expect_release_by(const std::function<void()>& end) {
    feed(make_claim("c"));
    add_pod("p");
    const std::string node = take<SelectNode>().node;
    settle();
    EXPECT_TRUE(machine_.state().is_assumed("uid-p"));
    end();
    EXPECT_FALSE(machine_.state().is_assumed("uid-p"));
    EXPECT_EQ(machine_.state().cluster().find(node)->requested.milli_cpu, 0);
    pass();
    EXPECT_EQ(deadline_, MonoTime::max());
    bind_claim("c", "pv");
    EXPECT_TRUE(effects_.empty());
  }
  // The claim as the volume controller leaves it, and its volume.
  void bind_claim(const std::string& claim, const std::string& volume) {
    PersistentVolume made = make_volume(volume);
    made.metadata.resource_version = "2";
    test::reserve(made, make_claim(claim));
    made.status.phase = "Bound";
    feed(made);
    PersistentVolumeClaim bound = test::bound_claim(claim, volume);
    bound.metadata.resource_version = "3";
    feed(bound);
  }
  void mark_selected(const std::string& claim, const std::string& node,
                     const std::string& version) {
    PersistentVolumeClaim changed = make_claim(claim);
    changed.metadata.resource_version = version;
    if (!node.empty()) {
      changed.metadata.annotations.set("volume.kubernetes.io/selected-node", node);
    }
    feed(changed);
  }

  MonoTime now_{1000s};
  MonoTime deadline_{};
  Scheduler machine_{{.name = "holdfast-scheduler"}, now_, Random(1)};
  std::deque<Effect> effects_;
  Effect taken_;
  std::vector<std::string> events_;
};

TEST_F(VolumeBindingTest, ThePodWaitsForAVolumeThatIsMadeOnItsNode) {
  feed(make_claim("c"));
  add_pod("p");
  const auto selected = take<SelectNode>();
  EXPECT_EQ(selected.claim, (ClaimRef{{"default", "c"}, "uid-c", "1"}));
  EXPECT_TRUE(machine_.state().is_assumed("uid-p")) << "its room is taken meanwhile";
  settle();
  mark_selected("c", selected.node, "2");
  EXPECT_TRUE(effects_.empty());
  bind_claim("c", "pv");
  EXPECT_EQ(take<BindPod>().node, selected.node);
  settle();
  EXPECT_TRUE(effects_.empty());
}

TEST_F(VolumeBindingTest, AnExistingVolumeIsReservedForTheClaim) {
  feed(make_claim("c", "local"));
  PersistentVolume volume = make_volume("pv", "local");
  test::keep_on(volume, "b");
  feed(volume);
  add_pod("p");
  const BindVolume wanted{"pv", "uid-pv", "1", {{"default", "c"}, "uid-c", "1"}, false};
  EXPECT_EQ(take<BindVolume>(), wanted);
  const Effect reserving = taken_;
  // Another claim does not get the same volume.
  feed(make_claim("d", "local"));
  add_pod("q", "d");
  EXPECT_NE(events_.back().find("node(s) didn't find available persistent volumes to bind"),
            std::string::npos);
  (void)take<PatchPodStatus>();
  taken_ = reserving;
  settle();
  bind_claim("c", "pv");
  EXPECT_EQ(take<BindPod>().node, "b");
}

TEST_F(VolumeBindingTest, TheSmallestVolumeThatIsLargeEnoughIsReserved) {
  PersistentVolumeClaim claim = make_claim("c", "local");
  claim.spec.resources.requests.set("storage", "2Gi");
  feed(claim);
  // The first by name, the first that was added and the smallest of all are others.
  const std::pair<const char*, const char*> sizes[] = {
      {"pv-4", "4Gi"}, {"pv-1", "5Gi"}, {"pv-3", "1Gi"}, {"pv-2", "3Gi"}};
  for (const auto& [name, size] : sizes) {
    PersistentVolume volume = make_volume(name, "local");
    volume.spec.capacity.set("storage", size);
    feed(volume);
  }
  add_pod("p");
  const BindVolume wanted{"pv-2", "uid-pv-2", "1", {{"default", "c"}, "uid-c", "1"}, false};
  EXPECT_EQ(take<BindVolume>(), wanted);
  EXPECT_TRUE(effects_.empty()) << "the other volumes stay available";
}

TEST_F(VolumeBindingTest, TwoPodsWithOneClaimGoToOneNode) {
  feed(make_claim("c"));
  add_pod("p");
  const std::string node = take<SelectNode>().node;
  settle();
  for (const char* name : {"q", "r", "s"}) add_pod(name);
  EXPECT_TRUE(effects_.empty()) << "the node is selected only once";
  bind_claim("c", "pv");
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(take<BindPod>().node, node);
    settle();
  }
}

TEST_F(VolumeBindingTest, ARefusedRequestReleasesTheNode) {
  feed(make_claim("c"));
  add_pod("p");
  (void)take<SelectNode>();
  settle(Errc::conflict);
  EXPECT_FALSE(machine_.state().is_assumed("uid-p"));
  EXPECT_NE(events_.back().find("binding volumes: refused"), std::string::npos) << events_.back();
  (void)take<PatchPodStatus>();
  settle();
  pass(1s);
  (void)take<SelectNode>();
}

TEST_F(VolumeBindingTest, AProvisionerThatGivesUpReleasesTheNode) {
  feed(make_claim("c"));
  add_pod("p");
  const std::string node = take<SelectNode>().node;
  settle();
  mark_selected("c", node, "2");
  EXPECT_TRUE(machine_.state().is_assumed("uid-p"));
  mark_selected("c", "", "3");
  EXPECT_FALSE(machine_.state().is_assumed("uid-p"));
  EXPECT_NE(events_.back().find("no volume was provided for persistentvolumeclaim \"c\""),
            std::string::npos)
      << events_.back();
}

TEST_F(VolumeBindingTest, AVolumeElsewhereReleasesTheNode) {
  feed(make_claim("c"));
  add_pod("p");
  const std::string node = take<SelectNode>().node;
  settle();
  PersistentVolume elsewhere = make_volume("pv");
  test::keep_on(elsewhere, "nowhere");
  elsewhere.metadata.resource_version = "9";
  PersistentVolumeClaim bound = test::bound_claim("c", "pv");
  bound.metadata.resource_version = "9";
  feed(bound);
  EXPECT_TRUE(effects_.empty()) << "the volume is not known yet";
  feed(elsewhere);
  EXPECT_FALSE(machine_.state().is_assumed("uid-p"));
}

TEST_F(VolumeBindingTest, WaitingEndsAfterTenMinutes) {
  feed(make_claim("c"));
  add_pod("p");
  const std::string node = take<SelectNode>().node;
  settle();
  mark_selected("c", node, "2");
  EXPECT_EQ(deadline_, now_ + 10min);
  pass(10min - 1s);
  EXPECT_TRUE(machine_.state().is_assumed("uid-p"));
  pass(1s);
  EXPECT_FALSE(machine_.state().is_assumed("uid-p"));
  EXPECT_NE(events_.back().find("the volumes were not bound in time"), std::string::npos);
}

TEST_F(VolumeBindingTest, ADeletedPodDoesNotWait) {
  expect_release_by([this] { give(control::Removed<Pod>{"default", "p"}); });
}

TEST_F(VolumeBindingTest, APodThatTerminatesDoesNotWait) {
  expect_release_by([this] {
    Pod pod = test::make_pod("p", 0, "100");
    test::use_claim(pod, "c");
    pod.metadata.resource_version = "2";
    pod.metadata.deletion_timestamp = test::wall_now;
    feed(pod);
  });
}

TEST_F(VolumeBindingTest, ARemovedNodeEndsTheWaitAtOnce) {
  feed(make_claim("c"));
  add_pod("p");
  const auto node = take<SelectNode>().node;
  settle();
  give(control::Removed<Node>{"", node});
  EXPECT_FALSE(machine_.state().is_assumed("uid-p"));
  ASSERT_FALSE(events_.empty());
  EXPECT_NE(events_.back().find("node \"" + node + "\" not found"), std::string::npos)
      << events_.back();
}

TEST_F(VolumeBindingTest, AVolumeThatIsNotTakenHelpsTheNextPod) {
  feed(make_volume("pv", "local"));
  feed(make_claim("c", "local"));
  feed(make_claim("d", "local"));
  add_pod("p");
  (void)take<BindVolume>();
  add_pod("q", "d");
  EXPECT_EQ(machine_.state().queue().place("uid-q"), Place::unschedulable);
  give(control::Removed<Pod>{"default", "p"});
  settle(Errc::denied);
  EXPECT_NE(machine_.state().queue().place("uid-q"), Place::unschedulable);
}

TEST_F(VolumeBindingTest, WithoutTheListsPodsWithClaimsWaitAndOthersDoNot) {
  give(StorageMissing{"cannot list persistentvolumeclaims: forbidden"});
  feed(make_claim("c"));
  add_pod("p");
  EXPECT_NE(events_.back().find("cannot list persistentvolumeclaims: forbidden"),
            std::string::npos);
  (void)take<PatchPodStatus>();
  settle();
  feed(test::make_pod("plain", 0, "100"));
  pass();
  (void)take<BindPod>();
  settle();
  pass(1min);
  EXPECT_TRUE(effects_.empty());
  give(StorageMissing{});
  pass();
  (void)take<SelectNode>();
}

}  // namespace
}  // namespace holdfast::sync::schedule
