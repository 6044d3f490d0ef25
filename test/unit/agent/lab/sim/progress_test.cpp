// What must happen on a node in time: a simulated node on which it does not happen.

#include "agent/lab/sim/progress.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "agent/lab/sim/objects.h"

namespace holdfast::agent::lab::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class SilentObserver final : public NodeObserver {
 public:
  void container_is(const std::string&, const std::string&, std::string_view, int) override {}
  void pod_stops(const std::string&, const std::string&, std::string_view) override {}
};

// Node "a-1" with a kubelet and without an agent, on which the pod "web" runs. No controller runs:
// the test itself renews the node's lease and changes what the API says.
struct OneMachine {
  Engine engine{1};
  Server server{engine};
  sync::lifecycle::Options rules;
  SilentObserver observer;
  Invariants invariants{engine, server, rules, observer};
  Traffic traffic{engine};
  EdgeConfig edge;
  Kubelet::ProfileOf profile_of = [](const sync::Pod&) { return PodProfile{}; };
  Site site{.name = "a", .nodes = 1, .zone = "a", .agent = NodeAgent::none};
  std::vector<std::unique_ptr<SimNode>> machines;
  Progress progress{{engine, server, invariants, rules, seconds(40), machines}};

  OneMachine() {
    const SimNode::Parts parts{engine, server, traffic, edge, profile_of, invariants};
    machines.push_back(std::make_unique<SimNode>(parts, site, "a-1", std::make_shared<Line>()));
    machine().power_on();
    sync::Pod pod = make_pod({.name = "web"}, "web", 1);
    pod.spec.node_name = "a-1";
    (void)server.create_pod(pod, Actor::workloads);
    pass(seconds(30));
  }

  [[nodiscard]] SimNode& machine() { return *machines.front(); }
  void pass(Duration time) { engine.run_until(engine.now() + time); }
  void cut() { machine().link().cut(Direction::both, CutKind::black_hole); }
  // Looks every five seconds at what must happen. The node is heard all the time.
  void look(Duration time, bool is_calm) {
    for (Duration each{}; each < time; each += Progress::interval) {
      (void)server.renew_lease("a-1", engine.wall(), Actor::person);
      pass(Progress::interval);
      progress.look(is_calm);
    }
  }
};

struct StalledNode {
  std::string name;
  std::function<void(OneMachine&)> happens;
  std::string violated;  // "": nothing
};

class ProgressOfNodes : public ::testing::TestWithParam<StalledNode> {};

TEST_P(ProgressOfNodes, SaysWhatDoesNotHappen) {
  OneMachine it;
  const PodPtr pod = it.server.pod("default/web");
  ASSERT_TRUE(pod && is_ready(*pod));
  ASSERT_EQ(ready_status(*it.server.node("a-1")), "True");
  GetParam().happens(it);
  const auto& violation = it.engine.violation();
  EXPECT_EQ(violation ? violation->invariant : "", GetParam().violated);
}

std::vector<StalledNode> stalled_nodes() {
  return {
      {"AllIsWell", [](OneMachine& it) { it.look(minutes(10), true); }, ""},
      {"ItsKubeletEndsAndTheNodeStaysReady",
       [](OneMachine& it) {
         it.machine().kill(Process::kubelet);
         it.look(minutes(6), false);
       },
       "a node without kubelet is not Ready"},
      {"ItsKubeletDoesNotStartAgain",
       [](OneMachine& it) {
         it.machine().kill(Process::kubelet);
         it.look(minutes(2), true);
       },
       "a node connects again"},
      {"APodRunsThatTheApiDoesNotHave",
       [](OneMachine& it) {
         it.cut();
         (void)it.server.delete_pod("default/web", "", Actor::person, 0);
         it.look(minutes(5), true);
       },
       "what runs is in the API"},
      {"APodRunsThatIsNotReadyInTheApi",
       [](OneMachine& it) {
         it.cut();
         (void)it.server.edit_pod("default/web", "", Actor::lifecycle, [](sync::Pod& edited) {
           for (auto& condition : edited.status.conditions) {
             if (condition.type == "Ready") condition.status = "False";
           }
           return true;
         });
         it.look(minutes(3), true);
       },
       "the API shows what runs"},
      {"APodRunsForAMomentThatTheApiDoesNotHave",
       [](OneMachine& it) {
         it.cut();
         (void)it.server.delete_pod("default/web", "", Actor::person, 0);
         it.look(minutes(2), true);
       },
       ""},
  };
}

INSTANTIATE_TEST_SUITE_P(Progress, ProgressOfNodes, ::testing::ValuesIn(stalled_nodes()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace holdfast::agent::lab::sim
