// `holdfast-lab run --kubeconfig` plays in a cluster that others use, too: it leaves nothing there,
// also after a crash, and touches nothing of others. The cluster is the lab's API server with TLS,
// a holdfast-cloud as its lifecycle controller, and the objects of somebody else.

#include <unistd.h>

#include "agent/lab/cluster/pod_processes.h"
#include "test/e2e/processes.h"
#include "test/e2e/run_program.h"
#include "test/support/scratch_dir.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

using test::Ended;
using test::eventually;
using test::Process;
using test::run_program;

constexpr const char* guest_scenario = R"(
name: guest
about: a node of a guest is cut off
duration: 10s
fleet:
  sites:
  - {name: a, annotations: {node.beta.openyurt.io/autonomy: "true"}}
  - {name: b, nodes: 2}
edge: {lease-duration: 4s, lease-renew-interval: 1s, probe-deadline: 500ms, probe-backoff-max: 1s}
workloads:
- {deployment: web, replicas: 3, priority: 5}
- {daemonset: probe, namespace: shop}
manifests: [kept.yaml]
events:
- {at: 1s, cut: a, for: 7s}
- {at: 2s, drain: b-1}
- {at: 4s, delete-pods: web, on: b}
expect:
- {restarts: 0}
- {evictions: 0}
- {not-ready, of: a, at-least: 1}
- {not-ready: 0, of: b}
)";
constexpr const char* kept_manifest = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: kept, namespace: shop}
spec:
  selector: {matchLabels: {app: kept}}
  template:
    metadata: {labels: {app: kept}}
    spec: {containers: [{name: c, image: kept, command: [/bin/sleep, "1000"]}]}
)";
// Somebody else's: a Deployment, pods for every node, and a namespace with a run's label, which no
// run has made.
constexpr const char* foreign_objects = R"(
apiVersion: v1
kind: Namespace
metadata: {name: theirs, labels: {holdfast.dev/lab-run: lab-abcde}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: x}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: everywhere, namespace: theirs}
spec:
  selector: {matchLabels: {app: everywhere}}
  template:
    metadata: {labels: {app: everywhere}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: c, image: x, command: [/bin/touch, RAN]}]
)";

class LabGuest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    const std::string lab = HOLDFAST_BIN_DIR "/holdfast-lab";
    server_.emplace(std::vector<std::string>{lab, "apiserver", "--data=" + path("server"),
                                             "--listen=127.0.0.1:0", "--tls-dir=" + path("tls"),
                                             "--write-kubeconfig=" + kubeconfig()},
                    path("server.log"));
    ASSERT_TRUE(eventually(20s, [this] { return fs::read_all(kubeconfig(), 1 << 20).has_value(); }))
        << fs::read_all(path("server.log"), 1 << 20).value_or("");
    cloud_.emplace(
        std::vector<std::string>{HOLDFAST_BIN_DIR "/holdfast-cloud", "--kubeconfig=" + kubeconfig(),
                                 "--node-monitor-period=200ms", "--node-lease-duration=4s",
                                 "--node-monitor-grace-period=4s", "--leader-elect=false",
                                 "--secure-port=0"},
        path("cloud.log"));
    ASSERT_TRUE(fs::atomic_write(path("guest.yaml"), guest_scenario));
    ASSERT_TRUE(fs::atomic_write(path("kept.yaml"), kept_manifest));
    std::string foreign = foreign_objects;
    foreign.replace(foreign.find("RAN"), 3, path("ran"));
    ASSERT_TRUE(fs::atomic_write(path("foreign.yaml"), foreign));
    const Ended created = kubectl({"apply", "-f", path("foreign.yaml")});
    ASSERT_EQ(created.exit, proc::ExitStatus()) << created.output;
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (scratch_.path() / name).string();
  }
  [[nodiscard]] std::string kubeconfig() const { return path("kubeconfig"); }

  Ended kubectl(std::vector<std::string> words) const {
    words.insert(words.begin(), {"kubectl", "--kubeconfig=" + kubeconfig()});
    return run_program(std::move(words), path("kubectl" + std::to_string(++calls_) + ".log"), 20s);
  }
  [[nodiscard]] std::vector<std::string> run_words(std::vector<std::string> more) const {
    std::vector<std::string> words = {HOLDFAST_BIN_DIR "/holdfast-lab", "run"};
    words.insert(words.end(), more.begin(), more.end());
    const bool has_own = std::any_of(more.begin(), more.end(), [](const std::string& word) {
      return word.starts_with("--kubeconfig=");
    });
    if (!has_own) words.push_back("--kubeconfig=" + kubeconfig());
    return words;
  }
  Ended run(std::vector<std::string> more) const {
    return run_program(run_words(std::move(more)), path("run" + std::to_string(++calls_) + ".log"),
                       90s);
  }
  // The names of everything that a run makes outside of its namespaces, and those of namespaces.
  [[nodiscard]] std::string names() const {
    return kubectl({"get", "namespaces,nodes,priorityclasses,csr,leases", "--output=name",
                    "--namespace=kube-node-lease"})
        .output;
  }
  // What somebody else has written.
  [[nodiscard]] std::string foreign() const {
    return kubectl({"get", "--filename=" + path("foreign.yaml"),
                    "--output=jsonpath={range .items[*]}{.metadata.uid} {.metadata.generation} "
                    "{.metadata.deletionTimestamp} {.metadata.labels}{\"\\n\"}{end}"})
        .output;
  }

  test::ScratchDir scratch_;
  mutable int calls_ = 0;
  std::optional<Process> server_;
  std::optional<Process> cloud_;
};

TEST_F(LabGuest, LeavesNothingAndTouchesNothingOfOthers) {
  const std::string before = names();
  const std::string theirs = foreign();
  EXPECT_NE(before.find("namespace/theirs"), std::string::npos) << before;
  const Ended ended = run({path("guest.yaml"), "--converge=30s"});
  EXPECT_EQ(ended.exit, proc::ExitStatus()) << ended.output;
  for (const char* text :
       {"its own controllers judge the nodes", "a-1: Ready is Unknown", "deployment/kept",
        "met      API and nodes agree within 30s", "removed everything of lab-"}) {
    EXPECT_NE(ended.output.find(text), std::string::npos) << text << "\n" << ended.output;
  }
  EXPECT_EQ(names(), before) << ended.output;
  EXPECT_EQ(foreign(), theirs);
  EXPECT_FALSE(fs::read_all(path("ran"), 1)) << "a pod of somebody else ran on this machine";
}

TEST_F(LabGuest, IsRemovedAfterACrash) {
  const std::string before = names();
  const std::string theirs = foreign();
  Process crashing(run_words({path("guest.yaml"), "--data=" + path("data")}), path("crash.log"));
  const auto has_begun = [this] {
    return fs::read_all(path("crash.log"), 1 << 20).value_or("").find("drained") !=
           std::string::npos;
  };
  ASSERT_TRUE(eventually(60s, has_begun)) << fs::read_all(path("crash.log"), 1 << 20).value_or("");
  const Ended living = run({"--clean-up"});
  EXPECT_NE(living.output.find("still runs on this machine"), std::string::npos) << living.output;
  EXPECT_GT(agent::lab::cluster::running_containers(path("data/nodes/b-2/node")).size(), 0u);
  crashing.kill();
  EXPECT_NE(names(), before);
  const Ended cleaned = run({"--clean-up"});
  EXPECT_EQ(cleaned.exit, proc::ExitStatus()) << cleaned.output;
  EXPECT_NE(cleaned.output.find("of this machine"), std::string::npos) << cleaned.output;
  EXPECT_EQ(names(), before);
  EXPECT_EQ(foreign(), theirs);
  EXPECT_EQ(agent::lab::cluster::running_containers(path("data/nodes/b-2/node")).size(), 0u);
}

TEST_F(LabGuest, RefusesWhatWouldDisturbOthers) {
  const std::string role =
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\n";
  ASSERT_TRUE(fs::atomic_write(path("role.yaml"), role));
  const std::string text = fs::read_all(kubeconfig(), 1 << 20).value();
  std::string without_user = text;
  const std::size_t user = without_user.find("    user: holdfast-lab\n");
  ASSERT_NE(user, std::string::npos) << text;
  without_user.erase(user, without_user.find('\n', user) + 1 - user);
  ASSERT_TRUE(fs::atomic_write(path("without-user"), without_user));
  std::string elsewhere = text;
  const std::size_t port = elsewhere.find("https://127.0.0.1:") + 18;
  elsewhere.replace(port, elsewhere.find('\n', port) - port, "1");
  ASSERT_TRUE(fs::atomic_write(path("elsewhere"), elsewhere));
  struct Case {
    std::vector<std::string> flags;
    std::string error;
  };
  const std::string scenario = path("guest.yaml");
  const std::vector<Case> cases = {
      {{scenario, "--set=cloud.node-monitor-grace-period=60s"},
       "cloud: node-monitor-grace-period: holdfast-cloud is not started with --kubeconfig"},
      {{HOLDFAST_SOURCE_ROOT "/test/scenarios/cloud-side-outage.yaml"},
       "cloud-side-outage.yaml:22: cloud: link cut: the control plane of --kubeconfig is not ours"},
      {{scenario, "--set=manifests[0]=role.yaml"},
       "role.yaml:1: ClusterRole r is not in a namespace"},
      {{scenario, "--speed=2"}, "cannot be played faster"},
      {{scenario, "--kubelet=/nonexistent"}, "--kubeconfig and --kubelet exclude each other"},
      {{scenario, "--api-server=/nonexistent"}, "--kubeconfig and --api-server exclude each other"},
      {{scenario, "--kubeconfig=" + path("nothing")}, "nothing: No such file"},
      {{scenario, "--kubeconfig=" + path("without-user")},
       "without-user: its context has no user with a token or a client certificate"},
      {{scenario, "--kubeconfig=" + path("elsewhere")}, "elsewhere: 127.0.0.1:1: "},
      {{"--clean-up", scenario}, "--clean-up needs --kubeconfig and no SCENARIO"},
      {{}, "SCENARIO is missing"}};
  const std::string before = names();
  for (const Case& each : cases) {
    const Ended ended = run(each.flags);
    EXPECT_NE(ended.exit, proc::ExitStatus()) << each.error << "\n" << ended.output;
    EXPECT_NE(ended.output.find(each.error), std::string::npos) << ended.output;
  }
  EXPECT_EQ(names(), before);
}

}  // namespace
}  // namespace holdfast
