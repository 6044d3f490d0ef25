// Which event brings which pod back, and behaviour of the queue beyond the golden cases.

#include "sync/schedule/queue/queue.h"

#include "sync/schedule/failure.h"
#include "sync/schedule/names.h"
#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using namespace std::chrono_literals;
using test::make_node;
using test::make_pod;

class QueueTest : public testing::Test {
 protected:
  ~QueueTest() override { queue_.check_invariants(); }

  PodRef view(Pod pod) { return view_of(std::move(pod), symbols_); }
  static std::shared_ptr<const Node> node(Node node) {
    return std::make_shared<const Node>(std::move(node));
  }
  Hint ask(std::string_view plugin, const Pod& pod, const Event& event) {
    return hints_.ask(plugin, *view(pod), event);
  }
  // Puts the pod where it is after an attempt that `plugin` has rejected.
  void reject_pod(const PodRef& pod, std::string_view plugin) {
    queue_.add(now_, pod);
    ASSERT_TRUE(queue_.pop());
    ASSERT_TRUE(queue_.requeue(now_, pod, {std::string(plugin)}, {}));
  }

  Symbols symbols_;
  PluginHints hints_{symbols_};
  MonoTime now_{1000s};
  std::set<std::string> preempting_;
  Queue queue_{hints_, [this](const PodView& pod) { return preemption_gate_of(pod); }, {}, now_};

 private:
  FitStatus preemption_gate_of(const PodView& pod) const {
    if (!preempting_.contains(pod.uid())) return {};
    return reject(Code::unresolvable, std::string(reason_preempting), plugin_preemption);
  }
};

TEST_F(QueueTest, RoomHelpsWhenThePodFitsTheEmptyNode) {
  const Pod pod = make_pod("p", 0, "3000");
  EXPECT_EQ(ask(plugin_fit, pod, node_added(node(make_node("n", 4)))), Hint::queue);
  EXPECT_EQ(ask(plugin_fit, pod, node_added(node(make_node("n", 2)))), Hint::skip);
  const auto grown = node_changed(node(make_node("n", 2)), node(make_node("n", 4)));
  ASSERT_EQ(grown.size(), 1u);
  EXPECT_EQ(ask(plugin_fit, pod, grown[0]), Hint::queue);
  const auto shrunk = node_changed(node(make_node("n", 8)), node(make_node("n", 4)));
  EXPECT_EQ(ask(plugin_fit, pod, shrunk[0]), Hint::skip);
  EXPECT_EQ(ask(plugin_fit, pod, assigned_pod_deleted(view(make_pod("gone", 0, "1", "n")))),
            Hint::queue);
  EXPECT_EQ(ask(plugin_taints, pod, grown[0]), Hint::unrelated);
}

TEST_F(QueueTest, OnlyWhatChangesTheAnswerHelps) {
  const Pod pod = make_pod("p", 0, "1");
  Node tainted = make_node("n");
  tainted.spec.taints.push_back({"k", "v", "NoSchedule", {}, {}});
  const auto lifted = node_changed(node(tainted), node(make_node("n")));
  ASSERT_EQ(lifted.size(), 1u);
  EXPECT_EQ(ask(plugin_taints, pod, lifted[0]), Hint::queue);
  EXPECT_EQ(ask(plugin_taints, pod, node_added(node(tainted))), Hint::skip);
  Pod tolerant = pod;
  tolerant.spec.tolerations.push_back({"k", "Exists", "", "", {}, {}});
  EXPECT_EQ(ask(plugin_taints, tolerant, lifted[0]), Hint::skip);  // The pod tolerated the taint.

  Pod choosy = pod;
  choosy.spec.node_selector.set("disk", "ssd");
  Node labelled = make_node("n");
  labelled.metadata.labels.set("disk", "ssd");
  EXPECT_EQ(
      ask(plugin_node_affinity, choosy, node_changed(node(make_node("n")), node(labelled))[0]),
      Hint::queue);
  EXPECT_EQ(ask(plugin_node_affinity, choosy, node_added(node(make_node("n")))), Hint::skip);

  Pod listening = pod;
  listening.spec.containers[0].ports = {{"", 80, 80, "", "", {}}};
  Pod other = make_pod("gone", 0, "1", "n");
  EXPECT_EQ(ask(plugin_ports, listening, assigned_pod_deleted(view(other))), Hint::skip);
  other.spec.containers[0].ports = {{"", 80, 80, "", "", {}}};
  EXPECT_EQ(ask(plugin_ports, listening, assigned_pod_deleted(view(other))), Hint::queue);
}

TEST_F(QueueTest, AChangeOfAWaitingPodIsTakenApart) {
  Pod before = make_pod("p", 0, "500");
  before.spec.scheduling_gates.push_back({"g", {}});
  Pod after = make_pod("p", 0, "100");
  after.metadata.labels.set("a", "b");
  after.spec.tolerations.push_back({"k", "Exists", "", "", {}, {}});
  std::vector<EventKind> kinds;
  for (const Event& event : waiting_pod_changed(view(before), view(after))) {
    kinds.push_back(event.kind);
  }
  EXPECT_EQ(kinds, (std::vector{EventKind::own_labels, EventKind::own_scale_down,
                                EventKind::own_gates, EventKind::own_tolerations}));
  EXPECT_EQ(waiting_pod_changed(view(after), view(after))[0].kind, EventKind::own_other);
}

TEST_F(QueueTest, ThePreemptorWaitsBehindItsGateForTheLastVictim) {
  const PodRef pod = view(make_pod("p", 1000, "3000"));
  reject_pod(pod, plugin_fit);
  EXPECT_EQ(queue_.place(pod->uid()), Place::unschedulable);
  preempting_.insert(pod->uid());
  now_ += 2s;
  queue_.happened(now_, assigned_pod_deleted(view(make_pod("v1", 0, "1", "n"))));
  EXPECT_EQ(queue_.place(pod->uid()), Place::unschedulable);
  EXPECT_EQ(queue_.gated(), 1u);
  preempting_.clear();
  queue_.happened(now_, assigned_pod_deleted(view(make_pod("v2", 0, "1", "n"))));
  EXPECT_EQ(queue_.place(pod->uid()), Place::active);
}

TEST_F(QueueTest, AChangeOfOnePodDoesNotWakeAnother) {
  const PodRef one = view(make_pod("one", 0, "1"));
  const PodRef other = view(make_pod("other", 0, "1"));
  queue_.add(now_, one);
  queue_.add(now_, other);
  ASSERT_EQ(queue_.pop()->pod, one);
  ASSERT_EQ(queue_.pop()->pod, other);
  Pod tolerant = *one->pod;
  tolerant.spec.tolerations.push_back({"k", "Exists", "", "", {}, {}});
  const PodRef changed = view(tolerant);
  queue_.update(now_, changed, waiting_pod_changed(one, changed));
  ASSERT_TRUE(queue_.requeue(now_, other, {std::string(plugin_taints)}, {}));
  EXPECT_EQ(queue_.place(other->uid()), Place::unschedulable);
  ASSERT_TRUE(queue_.requeue(now_, changed, {std::string(plugin_taints)}, {}));
  EXPECT_EQ(queue_.place(one->uid()), Place::backoff);
}

TEST_F(QueueTest, ItSaysWhenItWantsToBeTicked) {
  EXPECT_EQ(queue_.deadline(), MonoTime::max());
  const PodRef pod = view(make_pod("p", 0, "1"));
  reject_pod(pod, plugin_fit);
  EXPECT_EQ(queue_.deadline(), now_ + 30s);
  queue_.happened(now_, assigned_pod_deleted(view(make_pod("v", 0, "1", "n"))));
  EXPECT_EQ(queue_.deadline(), now_ + 1s);
  now_ += 1s;
  queue_.tick(now_);
  EXPECT_EQ(queue_.place(pod->uid()), Place::active);
}

// The queue looks every 30 s for pods that were rejected more than five minutes ago.
TEST_F(QueueTest, ARejectedPodIsTriedAgainAfterFiveAndAHalfMinutesButNotAGatedOne) {
  const MonoTime begin = now_;
  Pod gated = make_pod("gated", 0, "1");
  gated.spec.scheduling_gates.push_back({"example.com/g", {}});
  queue_.add(now_, view(gated));
  std::map<std::string, MonoTime> rejected;
  for (const Duration after : {0s, 1s, 29s, 30s}) {
    now_ = begin + after;
    const PodRef pod = view(make_pod("p" + std::to_string(rejected.size()), 0, "1"));
    rejected[pod->uid()] = now_;
    reject_pod(pod, plugin_fit);
  }
  std::map<std::string, Duration> retried;  // and how long it was in the pool
  while (now_ < begin + 1h) {
    now_ = queue_.deadline();
    queue_.tick(now_);
    while (const auto popped = queue_.pop()) {
      const std::string& uid = popped->pod->uid();
      retried[uid] = now_ - rejected.at(uid);
      queue_.done(uid);
    }
  }
  EXPECT_EQ(retried, (std::map<std::string, Duration>{
                         {"uid-p0", 330s}, {"uid-p1", 329s}, {"uid-p2", 301s}, {"uid-p3", 330s}}));
  EXPECT_EQ(queue_.place("uid-gated"), Place::unschedulable);
  EXPECT_EQ(queue_.incoming(), (Queue::Incoming{{{"active", "UnschedulablePodAdd"}, 4},
                                                {{"unschedulable", "UnschedulablePodAdd"}, 1},
                                                {{"unschedulable", "ScheduleAttemptFailure"}, 4},
                                                {{"active", "UnschedulableTimeout"}, 4}}));
}

TEST_F(QueueTest, APodIsInOnePlaceOnly) {
  const PodRef pod = view(make_pod("p", 0, "1"));
  EXPECT_FALSE(queue_.requeue(now_, pod, {}, {}));
  queue_.add(now_, pod);
  const auto again = queue_.requeue(now_, pod, {}, {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().what, "Pod p is already present in the active queue");
  queue_.remove(pod->uid());
  EXPECT_EQ(queue_.place(pod->uid()), std::nullopt);
  EXPECT_FALSE(queue_.pop());
}

TEST(Backoff, NeverOverflowsAndCanBeOff) {
  EXPECT_EQ(backoff(1'000'000, {}), 10s);
  QueueOptions none;
  none.backoff_max = Duration::zero();
  EXPECT_EQ(backoff(5, none), Duration::zero());
  QueueOptions huge;
  huge.backoff_max = Duration::max();
  EXPECT_EQ(backoff(100, huge), Duration::max());
}

TEST(Failure, APodThatIsGoneIsNotQueuedAgain) {
  Symbols symbols;
  Nominator nominator;
  const PodRef pod = view_of(make_pod("p", 0, "1"), symbols);
  const FailedAttempt attempt{pod, reject(Code::unresolvable, "why"), std::nullopt, "n1"};
  const auto gone = plan_failure(attempt, nullptr, nominator, test::wall_now);
  EXPECT_FALSE(gone.requeue);
  EXPECT_EQ(nominator.node_of(pod->uid()), "");
  EXPECT_TRUE(gone.patch);
  const PodRef bound = view_of(make_pod("p", 0, "1", "n2"), symbols);
  EXPECT_FALSE(plan_failure(attempt, bound, nominator, test::wall_now).requeue);
  EXPECT_TRUE(plan_failure(attempt, pod, nominator, test::wall_now).requeue);
  EXPECT_EQ(nominator.node_of(pod->uid()), "n1");
}

}  // namespace
}  // namespace holdfast::sync::schedule
