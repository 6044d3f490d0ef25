// The invariants, fed with what would violate them.

#include "agent/lab/sim/invariants.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "agent/lab/sim/objects.h"
#include "agent/lab/sim/progress.h"

namespace holdfast::agent::lab::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class Nobody final : public NodeObserver {
 public:
  void container_is(const std::string&, const std::string&, std::string_view, int) override {}
  void pod_stops(const std::string&, const std::string&, std::string_view) override {}
};

// Two nodes, of which "a-1" is autonomous, with one pod on each: "on-a-1" and "on-b-1".
struct TwoNodes {
  Engine engine{1};
  Server server{engine};
  sync::lifecycle::Options rules;
  Nobody nobody;
  Invariants invariants{engine, server, rules, nobody};
  std::vector<std::unique_ptr<SimNode>> machines;
  Progress progress{{engine, server, invariants, rules, seconds(40), machines}};

  TwoNodes() {
    for (const std::string name : {"a", "b"}) {
      Site site{.name = name, .nodes = 1, .zone = name};
      if (name == "a") site.annotations["node.beta.openyurt.io/autonomy"] = "true";
      sync::Node node = make_node(site, name + "-1");
      node.status = healthy_status(site, {}, engine.wall());
      (void)server.create_node(node, Actor::kubelet);
      add_pod("on-" + name + "-1", name + "-1");
    }
  }

  void add_pod(const std::string& name, const std::string& node) {
    sync::Pod pod = make_pod({.name = "web"}, name, 1);
    pod.spec.node_name = node;
    (void)server.create_pod(pod, Actor::workloads);
  }
  void set_ready(const std::string& pod, Actor by, std::string_view status) {
    (void)server.edit_pod("default/" + pod, "", by, [status](sync::Pod& edited) {
      edited.status.conditions.resize(1);
      edited.status.conditions.front().type = "Ready";
      edited.status.conditions.front().status = status;
      return true;
    });
  }
  void run(const std::string& pod) {
    invariants.container_is("", uid(pod), "ready", 0);
    set_ready(pod, Actor::kubelet, "True");
  }
  void set_phase(const std::string& pod, std::string_view phase) {
    (void)server.edit_pod("default/" + pod, "", Actor::kubelet, [phase](sync::Pod& edited) {
      edited.status.phase = phase;
      return true;
    });
  }
  void set_unknown(const std::string& node) {
    (void)server.edit_node(node, "", "", Actor::lifecycle, [](sync::Node& edited) {
      for (auto& condition : edited.status.conditions) condition.status = "Unknown";
      return true;
    });
  }
  void taint(const std::string& node, std::string_view effect) {
    (void)server.edit_node(node, "", "", Actor::lifecycle, [this, effect](sync::Node& edited) {
      sync::Taint added;
      added.key = "node.kubernetes.io/unreachable";
      added.effect = effect;
      added.time_added = engine.wall();
      edited.spec.taints.push_back(added);
      return true;
    });
  }
  void untaint(const std::string& node) {
    (void)server.edit_node(node, "", "", Actor::lifecycle, [](sync::Node& edited) {
      edited.spec.taints.clear();
      return true;
    });
  }
  // The node reports that it is Ready again.
  void return_ready(const std::string& node) {
    (void)server.edit_node(node, "", "", Actor::kubelet, [](sync::Node& edited) {
      for (auto& condition : edited.status.conditions) {
        if (condition.type == "Ready") condition.status = "True";
      }
      return true;
    });
  }
  // "b-1" became Unknown and was tainted; "a-1" is heard.
  void lose_b() {
    pass(minutes(5));
    set_unknown("b-1");
    beat("a-1");
    taint("b-1", "NoSchedule");
    taint("b-1", "NoExecute");
  }
  // As look(), while "a-1" is heard.
  void look_while_a_beats(Duration time) {
    for (Duration each{}; each < time; each += seconds(10)) {
      beat("a-1");
      look(seconds(10));
    }
  }
  // A heartbeat of the node, so that not all are silent.
  void beat(const std::string& node) {
    (void)server.renew_lease(node, engine.wall(), Actor::kubelet);
  }
  void pass(Duration time) { engine.run_until(engine.now() + time); }
  // Looks at what must happen every five seconds; "b-1" is heard.
  void look(Duration time) {
    for (Duration each{}; each < time; each += Progress::interval) {
      pass(Progress::interval);
      progress.look(true);
    }
  }
  void remove(const std::string& pod, Actor by) {
    (void)server.delete_pod("default/" + pod, "", by, 0);
  }
  [[nodiscard]] std::string uid(const std::string& pod) const {
    return server.pod("default/" + pod)->metadata.uid;
  }
};

struct Breach {
  std::string name;
  std::function<void(TwoNodes&)> happens;
  std::string violated;  // the invariant; "": none
};

class InvariantsTest : public ::testing::TestWithParam<Breach> {};

TEST_P(InvariantsTest, SayWhatIsViolated) {
  TwoNodes nodes;
  GetParam().happens(nodes);
  const auto& violation = nodes.engine.violation();
  EXPECT_EQ(violation ? violation->invariant : "", GetParam().violated);
}

std::vector<Breach> breaches() {
  return {
      {"NothingHappens", [](TwoNodes& it) { it.pass(minutes(1)); }, ""},
      {"ANodeThatWasHeardBecomesUnknown",
       [](TwoNodes& it) {
         it.pass(seconds(20));
         it.set_unknown("b-1");
       },
       "only a silent node becomes Unknown"},
      {"ASilentNodeBecomesUnknown",
       [](TwoNodes& it) {
         it.pass(seconds(51));
         it.set_unknown("b-1");
       },
       ""},
      {"AnOutageOfTheApiServerCounts",
       [](TwoNodes& it) {
         it.pass(seconds(1));
         it.invariants.control_plane_is(false);
         it.pass(minutes(2));
         it.invariants.control_plane_is(true);
         it.pass(seconds(20));
         it.set_unknown("b-1");
       },
       "an outage of the API server counts for no node"},
      {"AnAutonomousNodeIsTainted",
       [](TwoNodes& it) {
         it.pass(minutes(5));
         it.set_unknown("a-1");
         it.beat("b-1");
         it.taint("a-1", "NoExecute");
       },
       "an autonomous node is not tainted"},
      {"APodOfAnAutonomousNodeIsEvicted",
       [](TwoNodes& it) {
         it.pass(minutes(5));
         it.set_unknown("a-1");
         it.remove("on-a-1", Actor::lifecycle);
       },
       "no pod of an autonomous node is evicted"},
      {"APodOfAnAutonomousNodeIsMarked",
       [](TwoNodes& it) {
         it.run("on-a-1");
         it.pass(minutes(5));
         it.set_unknown("a-1");
         it.set_ready("on-a-1", Actor::lifecycle, "False");
       },
       "pods of an autonomous node stay Ready"},
      {"APodIsReadyThatNeverRan",
       [](TwoNodes& it) { it.set_ready("on-b-1", Actor::kubelet, "True"); },
       "a pod is reported as ready only after it ran"},
      {"APodThatRunsIsRemoved",
       [](TwoNodes& it) {
         it.run("on-b-1");
         it.set_phase("on-b-1", "Failed");
         it.remove("on-b-1", Actor::kubelet);
       },
       "only a stopped pod is removed for good"},
      {"APodThatWasNotDeletedIsRemoved", [](TwoNodes& it) { it.remove("on-b-1", Actor::edge); },
       "only a stopped pod is removed for good"},
      {"APodThatHasEndedRunsAgain",
       [](TwoNodes& it) {
         it.set_phase("on-b-1", "Succeeded");
         it.set_phase("on-b-1", "Running");
       },
       "a pod that has ended stays so"},
      {"APodThatWasNotDeletedIsStopped",
       [](TwoNodes& it) {
         it.run("on-b-1");
         it.invariants.pod_stops("b-1", it.uid("on-b-1"), "not wanted");
       },
       "no pod is stopped that was not deleted"},
      {"ADeletedPodIsStopped",
       [](TwoNodes& it) {
         it.run("on-b-1");
         (void)it.server.delete_pod("default/on-b-1", "", Actor::person);
         it.invariants.pod_stops("b-1", it.uid("on-b-1"), "not wanted");
       },
       ""},
      {"AnOrdinalRunsTwice",
       [](TwoNodes& it) {
         const Workload set{.kind = WorkloadKind::stateful_set, .name = "db"};
         for (int round = 0; round < 2; ++round) {
           (void)it.server.create_pod(make_pod(set, "db-0", 1), Actor::workloads);
           it.invariants.container_is("b-1", it.uid("db-0"), "starting", 0);
           if (round == 0) it.remove("db-0", Actor::person);
         }
       },
       "an ordinal of a StatefulSet runs once"},
      {"APodOfANodeWithoutTaintIsEvicted",
       [](TwoNodes& it) { it.remove("on-b-1", Actor::lifecycle); },
       "only pods of tainted nodes are evicted"},
      {"APodIsEvictedBeforeItsTolerationHasPassed",
       [](TwoNodes& it) {
         it.lose_b();
         it.pass(minutes(4));
         it.remove("on-b-1", Actor::lifecycle);
       },
       "only pods of tainted nodes are evicted"},
      {"APodIsEvictedAfterItsToleration",
       [](TwoNodes& it) {
         it.lose_b();
         it.pass(minutes(5));
         it.remove("on-b-1", Actor::lifecycle);
       },
       ""},
      {"AReadyNodeIsTainted", [](TwoNodes& it) { it.taint("b-1", "NoExecute"); },
       "only a node that is not ready is tainted"},
      {"ANodeIsTaintedWhileAllAreSilent",
       [](TwoNodes& it) {
         it.pass(minutes(5));
         it.set_unknown("b-1");
         it.taint("b-1", "NoExecute");
       },
       "no node is tainted while all are silent"},
      {"ALeaseGoesBack",
       [](TwoNodes& it) {
         it.beat("b-1");
         (void)it.server.renew_lease("b-1", it.engine.wall() - seconds(1), Actor::edge);
       },
       "the renewals of a lease grow"},
      {"NodesAreTaintedTooFast",
       [](TwoNodes& it) {
         it.lose_b();
         it.untaint("b-1");
         it.pass(seconds(2));
         it.taint("b-1", "NoExecute");
       },
       "nodes are tainted at the configured rate"},
      {"APodIsBoundToAClosedNode",
       [](TwoNodes& it) {
         it.add_pod("new", "");
         it.pass(minutes(5));
         it.set_unknown("b-1");
         it.taint("b-1", "NoSchedule");
         it.pass(seconds(2));
         (void)it.server.edit_pod("default/new", "", Actor::scheduler, [](sync::Pod& pod) {
           pod.spec.node_name = "b-1";
           return true;
         });
       },
       "pods are bound to open nodes only"},
  };
}

std::vector<Breach> late_breaches() {
  return {
      {"AllIsWell",
       [](TwoNodes& it) {
         for (int each = 0; each < 100; ++each) {
           it.beat("a-1");
           it.beat("b-1");
           it.look(seconds(10));
         }
       },
       ""},
      {"ASilentNodeStaysReady", [](TwoNodes& it) { it.look(minutes(10)); },
       "a silent node becomes Unknown"},
      {"ANodeStaysOpen",
       [](TwoNodes& it) {
         it.pass(minutes(5));
         it.set_unknown("a-1");
         it.set_unknown("b-1");
         it.look(minutes(5));
       },
       "a node that is not ready takes no pods, and one that is does"},
      {"APodStaysReady",
       [](TwoNodes& it) {
         it.run("on-b-1");
         it.pass(minutes(5));
         for (const char* node : {"a-1", "b-1"}) {
           it.set_unknown(node);
           it.taint(node, "NoSchedule");
         }
         it.look(minutes(5));
       },
       "pods of a silent node are not Ready"},
      {"APodStaysInTheQueue",
       [](TwoNodes& it) {
         it.add_pod("new", "");
         it.look(minutes(2));
       },
       "a pod is placed"},
      {"AReadyNodeStaysTainted",
       [](TwoNodes& it) {
         it.pass(minutes(5));
         it.set_unknown("b-1");
         it.beat("a-1");
         it.taint("b-1", "NoExecute");
         it.return_ready("b-1");
         for (int each = 0; each < 12; ++each) {
           it.beat("b-1");
           it.look_while_a_beats(seconds(10));
         }
       },
       "a node that is ready loses its taint"},
      {"NodesStayTaintedWhileNoneIsReady",
       [](TwoNodes& it) {
         it.lose_b();
         it.pass(minutes(1));
         it.set_unknown("a-1");
         it.taint("a-1", "NoSchedule");
         it.look(minutes(2));
       },
       "no node stays tainted while none is ready"},
      {"ANodeThatIsNotReadyIsNotTainted",
       [](TwoNodes& it) {
         it.pass(minutes(5));
         it.set_unknown("b-1");
         it.taint("b-1", "NoSchedule");
         it.look_while_a_beats(minutes(3));
       },
       "a node that is not ready is tainted"},
      {"APodIsNotEvictedInTime",
       [](TwoNodes& it) {
         it.lose_b();
         it.look_while_a_beats(minutes(8));
       },
       "a pod is evicted after its toleration"},
      {"ADeletedPodStays",
       [](TwoNodes& it) {
         (void)it.server.delete_pod("default/on-b-1", "", Actor::person);
         it.look(seconds(195));
       },
       "a deleted pod goes"},
  };
}

std::string breach_name(const ::testing::TestParamInfo<Breach>& each) { return each.param.name; }

INSTANTIATE_TEST_SUITE_P(Safety, InvariantsTest, ::testing::ValuesIn(breaches()), breach_name);
INSTANTIATE_TEST_SUITE_P(Progress, InvariantsTest, ::testing::ValuesIn(late_breaches()),
                         breach_name);

}  // namespace
}  // namespace holdfast::agent::lab::sim
