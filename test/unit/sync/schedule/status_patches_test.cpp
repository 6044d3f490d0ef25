// The status patches of pods that wait: their order, what waits and what does not; and the events
// about invalid budgets. The scheduler's machine by itself.

#include <deque>
#include <utility>

#include "sync/schedule/scheduler.h"
#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using namespace std::chrono_literals;
using test::make_node;
using test::make_pod;

using Texts = std::vector<std::string>;

SchedulerOptions with_preempting_extender() {
  SchedulerOptions options{.name = "holdfast-scheduler"};
  ExtenderConfig extender;
  extender.rules.url = "http://extender";
  extender.rules.preempts = true;
  extender.rules.node_cache_capable = true;
  extender.preempt_verb = "preempt";
  options.extenders.push_back(std::move(extender));
  return options;
}

std::string text_of(const EffectBody& effect) {
  if (const auto* patch = std::get_if<PatchPodStatus>(&effect)) {
    std::string text = "patch " + patch->pod.name;
    if (patch->condition) text += " " + patch->condition->type + ": " + patch->condition->message;
    if (patch->nominated_node) text += " -> " + *patch->nominated_node;
    return text;
  }
  if (const auto* clear = std::get_if<ClearNomination>(&effect)) return "clear " + clear->pod.name;
  if (const auto* deletion = std::get_if<DeletePod>(&effect)) return "delete " + deletion->pod.name;
  if (const auto* binding = std::get_if<BindPod>(&effect)) {
    return "bind " + binding->pod.name + " to " + binding->node;
  }
  return std::holds_alternative<AskExtender>(effect) ? "ask the extender" : "another effect";
}

// The machine with node a of one core, which the pod "other" uses in part. The tests settle its
// effects.
class StatusPatches : public testing::Test {
 protected:
  explicit StatusPatches(SchedulerOptions options = {.name = "holdfast-scheduler"})
      : machine_(std::move(options), now_, Random(1)) {
    give(StorageMissing{});
    feed(make_node("a", 1));
    feed(make_pod("other", 1000, "500", "a"));
  }
  ~StatusPatches() override { machine_.state().check_invariants(); }

  void give(const Scheduler::Input& input) {
    auto step = machine_.step({now_, test::wall_now}, input);
    for (Effect& effect : step.effects) {
      if (const auto* event = std::get_if<RecordEvent>(&effect.what)) {
        events_.push_back(event->regarding.name + " " + event->reason + ": " + event->note);
      } else {
        under_way_.push_back(std::move(effect));
      }
    }
  }
  template <class T>
  void feed(const T& object) {
    give(control::Changed<T>{object});
  }
  // Makes the next attempt once back-offs are over.
  void attempt() {
    now_ += 10s;
    give(control::TimePassed{});
  }
  // All effects that have not ended, oldest first.
  [[nodiscard]] Texts under_way() const {
    Texts texts;
    for (const Effect& effect : under_way_) texts.push_back(text_of(effect.what));
    return texts;
  }
  // Ends the effect at this place of under_way().
  void settle(std::size_t at, const Outcome& outcome = {}) {
    const Effect ended = under_way_.at(at);
    under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(at));
    give(Scheduler::Performed{ended, outcome});
  }

  MonoTime now_{1000s};
  Scheduler machine_;
  std::deque<Effect> under_way_;
  Texts events_;
};

class StatusPatchesWithExtender : public StatusPatches {
 protected:
  StatusPatchesWithExtender() : StatusPatches(with_preempting_extender()) {}
};

const std::string hopeless =
    "patch p PodScheduled: 0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are "
    "available: 1 Preemption is not helpful for scheduling.";

// The second patch nominates the pod, the third one has only another message.
TEST_F(StatusPatchesWithExtender, ThoseThatWaitAreMergedIntoOne) {
  feed(make_pod("p", 100, "2000"));
  attempt();
  EXPECT_EQ(under_way(), Texts{hopeless});
  feed(make_pod("low", 0, "4000", "b"));
  feed(make_node("b", 4));
  attempt();
  EXPECT_EQ(under_way(), (Texts{hopeless, "ask the extender"}));
  settle(1, {std::nullopt, R"({"NodeNameToMetaVictims":{"b":{"Pods":[{"UID":"uid-low"}]}}})"});
  EXPECT_EQ(under_way(), (Texts{hopeless,
                                "patch low DisruptionTarget: holdfast-scheduler: preempting to "
                                "accommodate a higher priority pod"}));
  settle(1);
  EXPECT_EQ(under_way(), (Texts{hopeless, "delete low"}));
  settle(1);
  give(control::Removed<Pod>{"default", "other"});
  attempt();
  EXPECT_EQ(under_way(), (Texts{hopeless, "ask the extender"}));
  settle(1, {Errc::timeout, "no answer"});
  EXPECT_EQ(under_way(), Texts{hopeless}) << "the third patch waits, too";
  settle(0);
  EXPECT_EQ(under_way(), Texts{"patch p PodScheduled: 0/2 nodes are available: 2 Insufficient cpu. "
                               "preemption: no answer -> b"});
  settle(0);
  EXPECT_EQ(under_way(), Texts{}) << "the second patch is part of the third one";
}

TEST_F(StatusPatches, ABindingDropsTheOneThatWaits) {
  feed(make_pod("p", 100, "2000"));
  attempt();
  Node tainted = make_node("b", 4);
  tainted.spec.taints.push_back({"k", "v", "NoSchedule", {}, {}});
  feed(tainted);
  attempt();
  EXPECT_EQ(events_,
            (Texts{"p FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu. preemption: "
                   "0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
                   "p FailedScheduling: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had "
                   "untolerated taint {k: v}. preemption: 0/2 nodes are available: 2 Preemption is "
                   "not helpful for scheduling."}));
  feed(make_node("b", 4));
  attempt();
  EXPECT_TRUE(machine_.state().is_assumed("uid-p"));
  EXPECT_EQ(under_way(), Texts{hopeless}) << "the binding waits for it";
  settle(0, {Errc::unavailable, "not well"});
  EXPECT_EQ(under_way(), Texts{"bind p to b"});
  settle(0);
  EXPECT_EQ(under_way(), Texts{});
  EXPECT_EQ(events_.back(), "p Scheduled: Successfully assigned default/p to b");
}

// Another pod is nominated to b, and its own patch is still under way.
TEST_F(StatusPatches, APreemptionClearsANominationAtOnce) {
  feed(make_node("b", 4));
  feed(make_pod("low", 0, "4000", "b"));
  Pod nominee = make_pod("nominee", 10, "4000");
  nominee.status.nominated_node_name = "b";
  nominee.spec.preemption_policy = "Never";
  feed(nominee);
  attempt();
  const std::string waiting =
      "patch nominee PodScheduled: 0/2 nodes are available: 2 Insufficient cpu. preemption: not "
      "eligible due to preemptionPolicy=Never.";
  EXPECT_EQ(under_way(), Texts{waiting});
  feed(make_pod("vip", 100, "4000"));
  attempt();
  EXPECT_EQ(under_way(), (Texts{waiting, "clear nominee",
                                "patch vip PodScheduled: 0/2 nodes are available: 2 Insufficient "
                                "cpu. -> b"}));
}

TEST_F(StatusPatches, EachPreemptionTellsOfFiveInvalidBudgets) {
  for (int i = 1; i <= 7; ++i) {
    PodDisruptionBudget budget = test::make_budget("broken-" + std::to_string(i), "x", "y", 0);
    budget.spec.selector->match_expressions = {{"app", "Near", {"x"}, {}}};
    feed(budget);
  }
  feed(test::make_budget("sound", "app", "guarded", 0));
  for (const char* node : {"b", "c"}) {
    feed(make_node(node, 4));
    feed(make_pod(std::string("low-") + node, 0, "4000", node));
  }
  const auto budget_events = [this](const std::string& pod) {
    Texts found;
    for (const std::string& event : std::exchange(events_, {})) {
      if (event.starts_with(pod + " InvalidDisruptionBudget: ")) found.push_back(event);
    }
    return found;
  };
  for (const std::string pod : {"vip", "other-vip"}) {
    feed(make_pod(pod, 100, "4000"));
    attempt();
    Texts wanted;
    for (int i = 1; i <= 5; ++i) {
      wanted.push_back(pod + " InvalidDisruptionBudget: PodDisruptionBudget default/broken-" +
                       std::to_string(i) +
                       ": spec.selector: \"Near\" is not a valid label selector operator");
    }
    EXPECT_EQ(budget_events(pod), wanted);
  }
}

}  // namespace
}  // namespace holdfast::sync::schedule
