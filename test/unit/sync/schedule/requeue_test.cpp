// Which changes of the cluster let a pod be tried again that was rejected before: those after which
// kube-scheduler 1.36 tries it again, too.

#include "sync/schedule/cluster_state.h"
#include "sync/schedule/names.h"
#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using namespace std::chrono_literals;
using test::make_node;
using test::make_pod;

// A state with the nodes n and m of 4 cores. The pod "nominee" of priority 100 waits for room on n;
// rejected pods wait in the pool.
struct RequeueBench {
  explicit RequeueBench(FitOptions fit = {})
      : state({.scheduler = "holdfast-scheduler", .fit = std::move(fit)}, now) {
    for (const char* name : {"n", "m"}) state.set(now, make_node(name));
    set(nominee("n"));
    (void)state.queue().pop();
  }

  static Pod nominee(const std::string& node) {
    Pod pod = make_pod("nominee", 100, "4000");
    pod.status.nominated_node_name = node;
    return pod;
  }
  // Delivers the pod as a watch does, with a new resource version each time.
  void set(Pod pod) {
    pod.metadata.resource_version = std::to_string(++version);
    state.set(now, std::move(pod));
    state.check_invariants();
  }
  // Adds a pod and has an attempt fail.
  void reject(Pod pod, std::string_view plugin) {
    set(std::move(pod));
    const auto popped = state.queue().pop();
    ASSERT_TRUE(popped);
    ASSERT_TRUE(state.queue().requeue(now, popped->pod, {std::string(plugin)}, {}));
  }
  bool retried(const std::string& name) const {
    return state.queue().place("uid-" + name) != Place::unschedulable;
  }

  MonoTime now{1h};
  ClusterState state;
  int version = 0;
};

TEST(Requeue, TheEndOfANominationHelpsPodsOfItsPriorityAndBelow) {
  const struct {
    const char* what;
    std::function<void(RequeueBench&)> change;
    bool helps;
  } rows[] = {
      {"the pod is deleted",
       [](auto& bench) { bench.state.remove_pod(bench.now, "default", "nominee"); }, true},
      {"it ends",
       [](auto& bench) {
         Pod ended = RequeueBench::nominee("n");
         ended.status.phase = "Failed";
         bench.set(ended);
       },
       true},
      {"it is replaced by another of its name",
       [](auto& bench) {
         Pod other = make_pod("nominee", 100, "100");
         other.metadata.uid = "uid-other";
         bench.set(other);
       },
       true},
      {"the nomination is withdrawn", [](auto& bench) { bench.set(RequeueBench::nominee("")); },
       true},
      {"it goes to another node", [](auto& bench) { bench.set(RequeueBench::nominee("m")); }, true},
      {"it is assumed on another node",
       [](auto& bench) {
         (void)bench.state.assume(bench.now, bench.state.live("uid-nominee"), "m");
       },
       true},
      {"it runs on another node",
       [](auto& bench) { bench.set(make_pod("nominee", 100, "4000", "m")); }, true},
      {"it is assumed where it is nominated",
       [](auto& bench) {
         (void)bench.state.assume(bench.now, bench.state.live("uid-nominee"), "n");
       },
       false},
      {"it runs where it is nominated",
       [](auto& bench) { bench.set(make_pod("nominee", 100, "4000", "n")); }, false},
      {"something else of it changes",
       [](auto& bench) {
         Pod pod = RequeueBench::nominee("n");
         pod.metadata.labels.set("x", "y");
         bench.set(pod);
       },
       false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    RequeueBench bench;
    bench.reject(make_pod("lower", 0, "1000"), plugin_fit);
    bench.reject(make_pod("equal", 100, "1000"), plugin_fit);
    bench.reject(make_pod("higher", 101, "1000"), plugin_fit);
    bench.reject(make_pod("elsewhere", 0, "1000"), plugin_node_affinity);
    row.change(bench);
    bench.state.check_invariants();
    EXPECT_EQ(bench.retried("lower"), row.helps);
    EXPECT_EQ(bench.retried("equal"), row.helps);
    EXPECT_FALSE(bench.retried("higher")) << "it was not counted against this pod";
    EXPECT_FALSE(bench.retried("elsewhere")) << "another filter rejected it";
  }
}

TEST(Requeue, APodInFlightLearnsOfTheEndOfANomination) {
  RequeueBench bench;
  bench.set(make_pod("lower", 0, "1000"));
  const auto popped = bench.state.queue().pop();
  ASSERT_TRUE(popped);
  bench.state.remove_pod(bench.now, "default", "nominee");
  ASSERT_TRUE(bench.state.queue().requeue(bench.now, popped->pod, {std::string(plugin_fit)}, {}));
  EXPECT_TRUE(bench.retried("lower"));
}

TEST(Requeue, APodWhoseOwnNominationIsWithdrawnIsTriedAgain) {
  RequeueBench bench;
  const PodRef pod = bench.state.live("uid-nominee");
  ASSERT_TRUE(bench.state.queue().requeue(bench.now, pod, {std::string(plugin_fit)}, {}));
  ASSERT_FALSE(bench.retried("nominee"));
  bench.set(RequeueBench::nominee(""));
  EXPECT_TRUE(bench.retried("nominee"));
}

TEST(Requeue, ARemovedNodeHelpsAgainstTheSpreadThatCountedIt) {
  for (const bool labelled : {true, false}) {
    RequeueBench bench;
    Node removed = make_node("empty");
    if (labelled) removed.metadata.labels.set("zone", "z2");
    bench.state.set(bench.now, removed);
    Pod spread = make_pod("spread", 0, "100");
    test::add_spread(spread, "zone", "app", "a");
    bench.reject(spread, plugin_spread);
    bench.reject(make_pod("full", 0, "1000"), plugin_fit);
    bench.state.remove_node(bench.now, "empty");
    bench.state.check_invariants();
    EXPECT_EQ(bench.retried("spread"), labelled);
    EXPECT_FALSE(bench.retried("full"));
  }
}

// The selectors of the waiting pods match none of the pods that change.
TEST(Requeue, AnyPodMayHelpAgainstSpreadingAndAffinity) {
  const auto runner = [](const std::string& cpu, const std::string& label) {
    Pod pod = make_pod("runner", 0, cpu, "n");
    pod.metadata.labels.set("x", label);
    return pod;
  };
  const struct {
    const char* what;
    std::function<void(RequeueBench&)> change;
    bool helps;
  } rows[] = {
      {"a pod comes", [](auto& bench) { bench.set(make_pod("another", 0, "100", "n")); }, true},
      {"a pod goes", [](auto& bench) { bench.state.remove_pod(bench.now, "default", "runner"); },
       true},
      {"a pod gets other labels", [&](auto& bench) { bench.set(runner("100", "z")); }, true},
      {"a pod requests less", [&](auto& bench) { bench.set(runner("50", "y")); }, false},
      {"a node has more room", [](auto& bench) { bench.state.set(bench.now, make_node("n", 8)); },
       false},
      {"another pod waits", [](auto& bench) { bench.set(make_pod("another", 0, "100")); }, false},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    RequeueBench bench;
    bench.set(runner("100", "y"));
    Pod spread = make_pod("spread", 0, "100");
    test::add_spread(spread, "host", "app", "a");
    bench.reject(spread, plugin_spread);
    Pod near = make_pod("near", 0, "100");
    test::add_affinity(near, test::term("app", "a", "host"));
    bench.reject(near, plugin_pod_affinity);
    Pod far = make_pod("far", 0, "100");
    test::add_anti_affinity(far, test::term("app", "a", "host"));
    bench.reject(far, plugin_pod_affinity);
    bench.reject(make_pod("full", 0, "100"), plugin_ports);
    row.change(bench);
    bench.state.check_invariants();
    for (const char* name : {"spread", "near", "far"}) {
      EXPECT_EQ(bench.retried(name), row.helps) << name;
    }
    EXPECT_FALSE(bench.retried("full")) << "another filter rejected it";
  }
}

TEST(Requeue, AnyChangeMayHelpAgainstAnExtender) {
  const struct {
    const char* what;
    std::function<void(RequeueBench&)> change;
  } rows[] = {
      {"a node is added", [](auto& bench) { bench.state.set(bench.now, make_node("o")); }},
      {"a node has another label",
       [](auto& bench) {
         Node node = make_node("n");
         node.metadata.labels.set("x", "y");
         bench.state.set(bench.now, node);
       }},
      {"a node is removed", [](auto& bench) { bench.state.remove_node(bench.now, "n"); }},
      {"a pod runs", [](auto& bench) { bench.set(make_pod("r", 0, "100", "n")); }},
      {"a pod is deleted",
       [](auto& bench) { bench.state.remove_pod(bench.now, "default", "runner"); }},
      {"the pod itself changes",
       [](auto& bench) {
         Pod pod = make_pod("refused", 0, "100");
         pod.metadata.annotations.set("x", "y");
         bench.set(pod);
       }},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    RequeueBench bench;
    bench.set(make_pod("runner", 0, "100", "n"));
    bench.reject(make_pod("refused", 0, "100"), plugin_extender);
    ASSERT_FALSE(bench.retried("refused"));
    row.change(bench);
    bench.state.check_invariants();
    EXPECT_TRUE(bench.retried("refused"));
  }
}

TEST(Requeue, ANodeHelpsAPodWhoseOtherResourceTheProfileIgnores) {
  for (const bool ignored : {true, false}) {
    FitOptions fit;
    if (ignored) fit.ignored_resources.emplace("example.com/fpga");
    RequeueBench bench(fit);
    Pod pod = make_pod("p", 0, "1000");
    pod.spec.containers[0].resources.requests.set("example.com/fpga", "1");
    bench.reject(pod, plugin_fit);
    bench.state.set(bench.now, make_node("o"));
    EXPECT_EQ(bench.retried("p"), ignored);
  }
}

}  // namespace
}  // namespace holdfast::sync::schedule
