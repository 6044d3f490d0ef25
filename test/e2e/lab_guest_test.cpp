// `holdfast-lab run --kubeconfig` plays in a cluster that others use, too: it leaves nothing there,
// also after a crash, and touches nothing of others. The cluster is the lab's API server with TLS,
// a holdfast-cloud as its lifecycle controller, and the objects of somebody else.

#include <sys/wait.h>

#include "agent/lab/cluster/pod_processes.h"
#include "platform/text.h"
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
// A run to which nothing happens.
constexpr const char* quiet_guest_scenario = R"(
name: quiet-guest
about: two nodes of a guest
duration: LENGTH
fleet:
  sites:
  - {name: a}
  - {name: b}
edge: {lease-duration: 4s, lease-renew-interval: 1s, probe-deadline: 500ms, probe-backoff-max: 1s}
workloads:
- {deployment: web, replicas: 1, priority: 5}
expect:
- {restarts: FOUND}
)";
// What the crashed run of another machine has left.
constexpr const char* leftover_of_elsewhere = R"(
apiVersion: v1
kind: Namespace
metadata:
  name: lab-vwxyz-shop
  labels: {holdfast.dev/lab-run: lab-vwxyz}
  annotations: {holdfast.dev/lab-owner: elsewhere/boot.1.1/data}
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
    write_quiet("long.yaml", "60m", "0");
    write_quiet("unmet.yaml", "1s", "1");
    std::string foreign = foreign_objects;
    foreign.replace(foreign.find("RAN"), 3, path("ran"));
    ASSERT_TRUE(fs::atomic_write(path("foreign.yaml"), foreign));
    const Ended created = kubectl({"apply", "-f", path("foreign.yaml")});
    ASSERT_EQ(created.exit, proc::ExitStatus()) << created.output;
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (scratch_.path() / name).string();
  }
  void write_quiet(const std::string& name, const std::string& length,
                   const std::string& found) const {
    std::string text = quiet_guest_scenario;
    text.replace(text.find("LENGTH"), 6, length);
    text.replace(text.find("FOUND"), 5, found);
    ASSERT_TRUE(fs::atomic_write(path(name), text));
  }
  // Waits until the long scenario has begun, and returns the run's name: "lab-x7k2p".
  [[nodiscard]] std::string name_of_begun(const std::string& log) const {
    std::string text;
    const auto has_begun = [&text, &log] {
      text = fs::read_all(log, 1 << 20).value_or("");
      return text.find("the scenario begins") != std::string::npos;
    };
    EXPECT_TRUE(eventually(60s, has_begun)) << text;
    return text.substr(std::min(text.find(", as lab-") + 5, text.size()), 9);
  }
  // A kubeconfig with the same client certificate, which comes from a credential plug-in.
  [[nodiscard]] std::string plugged_kubeconfig() const {
    std::string text = fs::read_all(kubeconfig(), 1 << 20).value();
    const auto data_of = [&text](const std::string& field) {
      const std::size_t at = text.find(field + ": ") + field.size() + 2;
      return base64_decode(text.substr(at, text.find('\n', at) - at)).value();
    };
    const sync::json::object credential{
        {"kind", "ExecCredential"},
        {"apiVersion", "client.authentication.k8s.io/v1"},
        {"status", sync::json::object{{"clientCertificateData", data_of("client-certificate-data")},
                                      {"clientKeyData", data_of("client-key-data")}}}};
    EXPECT_TRUE(fs::atomic_write(path("credential"), sync::wire::serialize(credential)));
    const std::string plugin = "#!/bin/sh\ncat " + path("credential") + "\n";
    EXPECT_TRUE(fs::atomic_write(path("plug-in"), plugin, 0700));
    text.erase(text.find("    client-certificate-data: "));
    text += "    exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, " +
            ("command: " + path("plug-in")) + "}\n";
    EXPECT_TRUE(fs::atomic_write(path("plugged"), text));
    return path("plugged");
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

TEST_F(LabGuest, NodesHaveTheRightsOfNodesAndCtrlCRemovesThem) {
  const std::string before = names();
  const std::string theirs = foreign();
  Process running(run_words({path("long.yaml"), "--data=" + path("data")}), path("long.log"));
  const std::string name = name_of_begun(path("long.log"));
  const std::string server =
      kubectl({"config", "view", "--output=jsonpath={.clusters[0].cluster.server}"}).output;
  const std::string own = name + "-a-1";
  const std::string other = name + "-b-1";
  const struct {
    std::vector<std::string> words;
    std::string says;
  } rows[] = {{{"label", "node", own, "x=y"}, "labeled"},
              {{"annotate", "--namespace=kube-node-lease", "lease", own, "x=y"}, "annotated"},
              {{"label", "node", other, "x=y"}, "(Forbidden)"},
              {{"annotate", "--namespace=kube-node-lease", "lease", other, "x=y"}, "(Forbidden)"},
              {{"delete", "node", other}, "(Forbidden)"},
              {{"get", "node", other}, "(Forbidden)"},
              {{"get", "nodes"}, "(Forbidden)"},
              {{"get", "secrets", "--all-namespaces"}, "(Forbidden)"}};
  for (const auto& row : rows) {
    std::vector<std::string> words = {
        "kubectl", "--kubeconfig=" + path("data/nodes/a-1/kubeconfig"), "--server=" + server};
    words.insert(words.end(), row.words.begin(), row.words.end());
    const Ended ended = run_program(std::move(words), path("rights.log"), 20s);
    EXPECT_NE(ended.output.find(row.says), std::string::npos)
        << row.words[0] << " " << row.words[2] << ": " << ended.output;
    (void)fs::remove_tree(path("rights.log"));
  }
  running.signal(SIGINT);
  const auto status = running.wait(90s);
  const std::string output = fs::read_all(path("long.log"), 1 << 20).value_or("");
  ASSERT_TRUE(status) << output;
  EXPECT_TRUE(WIFEXITED(*status)) << output;
  EXPECT_EQ(WEXITSTATUS(*status), 1) << output;
  EXPECT_NE(output.find("removed everything of " + name), std::string::npos) << output;
  EXPECT_EQ(names(), before);
  EXPECT_EQ(foreign(), theirs);
  EXPECT_EQ(test::processes_naming(path("data")), std::vector<std::string>());
}

TEST_F(LabGuest, IsRemovedAfterAnErrorAndIfExpectationsAreNotMet) {
  std::string wrong = kept_manifest;
  wrong.replace(wrong.find("app: kept}}"), 9, "app: other");
  ASSERT_TRUE(fs::atomic_write(path("kept.yaml"), wrong));
  const struct {
    std::string scenario;
    int code;
    std::string says;
  } rows[] = {{"guest.yaml", 2, "`selector` does not match template `labels`"},
              {"unmet.yaml", 1, "NOT MET  restarts: 1"}};
  const std::string before = names();
  for (const auto& row : rows) {
    const Ended ended = run({path(row.scenario)});
    EXPECT_EQ(ended.exit, (proc::ExitStatus{false, row.code})) << ended.output;
    EXPECT_NE(ended.output.find(row.says), std::string::npos) << ended.output;
    EXPECT_NE(ended.output.find("removed everything of lab-"), std::string::npos) << ended.output;
    EXPECT_EQ(names(), before);
  }
}

TEST_F(LabGuest, TheNextRunRemovesWhatACrashOfThisMachineHasLeft) {
  const std::string before = names();
  ASSERT_TRUE(fs::atomic_write(path("elsewhere.yaml"), leftover_of_elsewhere));
  ASSERT_EQ(kubectl({"apply", "--filename=" + path("elsewhere.yaml")}).exit, proc::ExitStatus());
  const std::string with_elsewhere = names();
  Process crashing(run_words({path("long.yaml"), "--data=" + path("data")}), path("crash.log"));
  const std::string name = name_of_begun(path("crash.log"));
  crashing.kill();
  EXPECT_NE(names(), with_elsewhere);
  const Ended next = run({path("unmet.yaml"), "--kubeconfig=" + plugged_kubeconfig()});
  EXPECT_EQ(next.exit, (proc::ExitStatus{false, 1})) << next.output;
  for (const std::string& text :
       {"removed what was left of " + name + " of this machine",
        std::string("lab-vwxyz of elsewhere has objects in the cluster; if it has ended, remove "
                    "them with --clean-up")}) {
    EXPECT_NE(next.output.find(text), std::string::npos) << text << "\n" << next.output;
  }
  EXPECT_EQ(names(), with_elsewhere);
  EXPECT_EQ(agent::lab::cluster::running_containers(path("data/nodes/a-1/node")).size(), 0u);
  EXPECT_EQ(run({"--clean-up"}).output, "removed lab-vwxyz of elsewhere\n");
  EXPECT_EQ(names(), before);
  EXPECT_EQ(run({"--clean-up"}).output, "nothing is left of any run\n");
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
       "without-user: its context has no user with a token, a client certificate or a credential "
       "plug-in"},
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
