// The actions of a Preparation: their order, and the effect of failures.

#include "sync/schedule/preemption/preparation.h"

#include "sync/schedule/names.h"
#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using test::make_pod;
using Kind = Settled::Kind;

// One action as text: "patch v1 (uid-v1)".
std::string line(const Action& action) {
  if (const auto* patch = std::get_if<PatchPodStatus>(&action)) {
    return "patch " + patch->pod.name + " (" + patch->pod.uid + ")";
  }
  if (const auto* clear = std::get_if<ClearNomination>(&action)) return "clear " + clear->pod.name;
  if (const auto* remove = std::get_if<DeletePod>(&action)) {
    return "delete " + remove->pod.name + " (" + remove->pod.uid + ")";
  }
  if (const auto* reject = std::get_if<RejectWaiting>(&action)) return "reject " + reject->pod.name;
  if (const auto* event = std::get_if<RecordEvent>(&action)) {
    return "event " + event->regarding.name;
  }
  if (const auto* gate = std::get_if<SetGate>(&action)) return gate->shut ? "shut" : "open";
  return "activate";
}

class Prepare {
 public:
  Prepare(const std::vector<std::string>& victims, bool async,
          const std::vector<std::string>& nominated = {})
      : Prepare(pods(victims), pods(nominated), {.async = async}) {}
  Prepare(const std::vector<Pod>& victims, const std::vector<Pod>& nominated,
          const PreparationOptions& options)
      : preparation_(view(make_pod("p", 1000, "1")), {"n1", views(victims), 0}, views(nominated),
                     {}, options) {}

  std::string start() { return lines(preparation_.start(test::wall_now)); }
  std::string settle(std::uint64_t id, Kind kind = Kind::done) {
    return lines(preparation_.settle(id, {kind, kind == Kind::done ? "" : "boom"}, test::wall_now));
  }
  [[nodiscard]] const Preparation& operator*() const { return preparation_; }

 private:
  PodRef view(Pod pod) { return view_of(std::move(pod), symbols_); }
  static std::vector<Pod> pods(const std::vector<std::string>& names) {
    std::vector<Pod> all;
    for (const std::string& name : names) {
      all.push_back(make_pod(name, 0, "1", "n1"));
      all.back().status.nominated_node_name = "n1";
    }
    return all;
  }
  std::vector<PodRef> views(const std::vector<Pod>& pods) {
    std::vector<PodRef> all;
    for (const Pod& pod : pods) all.push_back(view(pod));
    return all;
  }
  static std::string lines(const Preparation::Steps& steps) {
    std::string all;
    for (const auto& step : steps) {
      if (!all.empty()) all += ", ";
      all += (step.id == 0 ? "" : std::to_string(step.id) + ": ") + line(step.action);
    }
    return all;
  }

  Symbols symbols_;
  Preparation preparation_;
};

TEST(Preparation, EveryWriteAndDeletionNamesTheUid) {
  Prepare run({"v1"}, false);
  EXPECT_EQ(run.start(), "1: patch v1 (uid-v1)");
  EXPECT_EQ(run.settle(1), "2: delete v1 (uid-v1)");
  EXPECT_EQ(run.settle(2), "event v1");
  EXPECT_TRUE((*run).finished());
  EXPECT_TRUE((*run).fit_status().ok());
}

TEST(Preparation, TheLastVictimGoesWhenTheGateIsOpen) {
  Prepare run({"v1", "v2", "v3"}, true, {"low"});
  EXPECT_EQ(run.start(), "shut, 1: clear low");
  EXPECT_EQ(run.settle(1), "2: patch v1 (uid-v1), 3: patch v2 (uid-v2)");
  EXPECT_EQ(run.settle(3), "4: delete v2 (uid-v2)");
  EXPECT_EQ(run.settle(2), "5: delete v1 (uid-v1)");
  EXPECT_EQ(run.settle(5), "event v1");
  EXPECT_EQ(run.settle(4), "event v2, open, 6: patch v3 (uid-v3)");
  EXPECT_EQ(run.settle(6), "7: delete v3 (uid-v3)");
  EXPECT_EQ(run.settle(7), "event v3");
  EXPECT_TRUE((*run).finished());
}

TEST(Preparation, AFailureStopsItsBatchAndWakesThePod) {
  Prepare run({"v1", "v2", "v3"}, true);
  EXPECT_EQ(run.start(), "shut, 1: patch v1 (uid-v1), 2: patch v2 (uid-v2)");
  EXPECT_EQ(run.settle(1, Kind::failed), "");
  EXPECT_EQ(run.settle(2), "open, 3: patch v3 (uid-v3)");
  EXPECT_EQ(run.settle(3), "4: delete v3 (uid-v3)");
  EXPECT_EQ(run.settle(4), "event v3, activate");
  EXPECT_TRUE((*run).fit_status().ok());
  EXPECT_EQ((*run).errors(), std::vector<std::string>{"boom"});
}

TEST(Preparation, SynchronouslyAFailureIsTheAttempts) {
  Prepare run({"v1", "v2"}, false, {"low"});
  EXPECT_EQ(run.start(), "1: patch v1 (uid-v1), 2: patch v2 (uid-v2)");
  EXPECT_EQ(run.settle(1, Kind::failed), "");
  EXPECT_EQ(run.settle(2), "");
  EXPECT_TRUE((*run).finished());
  EXPECT_EQ((*run).fit_status(), reject(Code::error, "boom"));
}

TEST(Preparation, PromisesAreClearedAfterTheVictims) {
  Prepare run({"v1"}, false, {"low"});
  EXPECT_EQ(run.start(), "1: patch v1 (uid-v1)");
  EXPECT_EQ(run.settle(1), "2: delete v1 (uid-v1)");
  EXPECT_EQ(run.settle(2), "event v1, 3: clear low");
  EXPECT_EQ(run.settle(3, Kind::failed), "");
  EXPECT_TRUE((*run).finished());
  EXPECT_TRUE((*run).fit_status().ok());
}

TEST(Preparation, WhenNobodyIsLeftToLeaveThePodIsWoken) {
  Prepare run({"v1", "v2"}, true);
  EXPECT_EQ(run.start(), "shut, 1: patch v1 (uid-v1)");
  EXPECT_EQ(run.settle(1, Kind::gone), "open, 2: patch v2 (uid-v2)");
  EXPECT_EQ(run.settle(2), "3: delete v2 (uid-v2)");
  EXPECT_EQ(run.settle(3, Kind::gone), "activate");
}

// As Kubernetes 1.34 and 1.36 have it, and as before.
TEST(Preparation, TheSwitchesAreForVictimsThatLeaveOrAreGone) {
  Pod leaving = make_pod("leaving", 0, "1", "n1");
  leaving.metadata.deletion_timestamp = test::wall_now;
  for (const bool skip : {true, false}) {
    Prepare run({leaving}, {}, {.skip_terminating = skip});
    EXPECT_EQ(run.start(), skip ? "" : "shut, open, 1: patch leaving (uid-leaving)");
    EXPECT_EQ((*run).finished(), skip);
  }
  for (const bool tolerate : {true, false}) {
    Prepare run({make_pod("v1", 0, "1", "n1")}, {}, {.tolerate_gone = tolerate});
    EXPECT_EQ(run.start(), "shut, open, 1: patch v1 (uid-v1)");
    EXPECT_EQ(run.settle(1, Kind::gone), "activate");
    EXPECT_EQ((*run).errors(),
              tolerate ? std::vector<std::string>{} : std::vector<std::string>{"boom"});
  }
}

TEST(Preparation, ANominationThatDoesNotExistIsNotCleared) {
  Pod nominated = make_pod("nominated", 0, "1");
  nominated.status.nominated_node_name = "n1";
  Prepare run({make_pod("v1", 0, "1", "n1")}, {make_pod("plain", 0, "1"), nominated}, {});
  EXPECT_EQ(run.start(), "shut, 1: clear nominated");
}

TEST(Preparation, APatchSaysWhatAStrategicMergeNeeds) {
  Symbols symbols;
  Pod pod = make_pod("v", 0, "1", "n1");
  pod.status.conditions.push_back({"Ready", "True", {}, {}, "", "", {}});
  PodCondition condition{"DisruptionTarget", "True", {}, test::wall_now, "R", "M", {}};
  const PatchPodStatus patch{key_of(*view_of(pod, symbols)), condition,
                             condition_order(pod.status, condition.type), "n2"};
  EXPECT_EQ(patch_body(patch),
            R"({"metadata":{"uid":"uid-v"},"status":{"$setElementOrder/conditions":)"
            R"([{"type":"Ready"},{"type":"DisruptionTarget"}],"conditions":[{"type":)"
            R"("DisruptionTarget","status":"True","lastProbeTime":null,"lastTransitionTime":)"
            R"("2027-01-15T08:00:00Z","reason":"R","message":"M"}],"nominatedNodeName":"n2"}})");
}

}  // namespace
}  // namespace holdfast::sync::schedule
