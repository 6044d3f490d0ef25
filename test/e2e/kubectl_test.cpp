// An unmodified kubectl against the lab's API server, over a real socket.

#include <algorithm>
#include <chrono>
#include <csignal>

#include "platform/fs/file.h"
#include "platform/proc/identity.h"
#include "platform/proc/notify.h"
#include "platform/proc/process.h"
#include "platform/text.h"
#include "test/support/scratch_dir.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

struct Ended {
  int code = -1;
  std::string output;  // stdout and stderr
};

std::vector<std::string> environment(const std::filesystem::path& home) {
  std::vector<std::string> made = {"HOME=" + home.string(),
                                   "KUBECONFIG=" + (home / "kubeconfig").string()};
  for (const char* name : {"PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
    if (const auto value = proc::system_environment(name)) {
      made.push_back(std::string(name) + "=" + *value);
    }
  }
  return made;
}

// A child process that is stopped in the destructor.
class Child {
 public:
  explicit Child(const proc::SpawnPlan& plan) : log_(plan.log) {
    auto started = proc::spawn(plan);
    EXPECT_TRUE(started) << (started ? "" : started.error().what);
    if (!started) return;
    identity_ = *started;
    auto pidfd = proc::open_pidfd(identity_);
    if (pidfd) pidfd_ = *std::move(pidfd);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (identity_.pid != 0) stop();
  }

  [[nodiscard]] std::string output() const { return fs::read_all(log_, 16UL << 20).value_or(""); }

  // Waits until the output contains `text`; false if it does not within `limit`.
  [[nodiscard]] bool says(std::string_view text, Duration limit) const {
    for (Duration waited{}; waited < limit; waited += 20ms) {
      if (output().find(text) != std::string::npos) return true;
      if (ended_within(20ms)) break;
    }
    return output().find(text) != std::string::npos;
  }

  // Waits for the exit code and returns it. Kills the process at `limit`.
  int wait(Duration limit) {
    if (!ended_within(limit)) (void)proc::signal_group(identity_, SIGKILL);
    (void)ended_within(5s);
    const auto exit = proc::reap(identity_.pid);
    identity_.pid = 0;
    return exit && !exit->signalled ? exit->number : -1;
  }

  void stop() {
    (void)proc::signal_process(identity_, SIGTERM);
    (void)wait(10s);
  }

 private:
  [[nodiscard]] bool ended_within(Duration limit) const {
    return !pidfd_.is_open() || proc::wait_for_end(pidfd_, limit);
  }

  std::filesystem::path log_;
  proc::ProcessIdentity identity_;
  Descriptor pidfd_;  // closed if the process ended before it could be opened
};

// The lab's API server and a kubectl configured for it.
class Cluster {
 public:
  Cluster()
      : server_({.argv = {std::string(HOLDFAST_BIN_DIR) + "/holdfast-lab", "apiserver",
                          "--listen=127.0.0.1:0", "--data=" + (home() / "data").string()},
                 .env = environment(home()),
                 .log = home() / "server.log"}) {
    constexpr std::string_view before = "address=";
    EXPECT_TRUE(server_.says("apiserver listening", 20s)) << server_.output();
    const std::string log = server_.output();
    const std::size_t begin = log.find(before) + before.size();
    const std::string address = log.substr(begin, log.find_first_of(" \n", begin) - begin);
    const std::string config =
        "apiVersion: v1\nkind: Config\ncurrent-context: lab\n"
        "clusters: [{name: lab, cluster: {server: \"http://" +
        address +
        "\"}}]\n"
        "users: [{name: me, user: {}}]\n"
        "contexts: [{name: lab, context: {cluster: lab, user: me}}]\n";
    EXPECT_TRUE(fs::atomic_write(home() / "kubeconfig", config));
  }

  [[nodiscard]] proc::SpawnPlan plan(Words words, std::string input = {}) {
    words.insert(words.begin(), "kubectl");
    return {.argv = std::move(words),
            .env = environment(home()),
            .input = std::move(input),
            .log = home() / ("kubectl." + std::to_string(++count_))};
  }

  Ended kubectl(Words words, std::string input = {}) {
    Child child(plan(std::move(words), std::move(input)));
    Ended ended;
    ended.code = child.wait(60s);
    ended.output = child.output();
    return ended;
  }

  [[nodiscard]] const std::filesystem::path& home() const { return scratch_.path(); }

 private:
  test::ScratchDir scratch_;
  int count_ = 0;
  Child server_;
};

struct Step {
  Words words;
  Words says;  // what the output must contain
  std::string input = {};
  int code = 0;
  bool patiently = false;  // retries for a while until the output contains it all
};

bool has_all(const Ended& ended, const Words& texts) {
  return std::all_of(texts.begin(), texts.end(), [&ended](const std::string& text) {
    return ended.output.find(text) != std::string::npos;
  });
}

void follow(Cluster& cluster, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    SCOPED_TRACE("kubectl " + join(step.words, " "));
    Ended ended = cluster.kubectl(step.words, step.input);
    for (int left = 50; step.patiently && left > 0 && !has_all(ended, step.says); --left) {
      ended = cluster.kubectl(step.words, step.input);
    }
    EXPECT_EQ(ended.code, step.code) << ended.output;
    for (const std::string& text : step.says) {
      EXPECT_NE(ended.output.find(text), std::string::npos) << "no \"" << text << "\" in\n"
                                                            << ended.output;
    }
  }
}

std::string node(const std::string& name) {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: " + name +
         "}\n"
         "status:\n"
         "  allocatable: {cpu: '4', memory: 8Gi, pods: '110'}\n"
         "  addresses: [{type: InternalIP, address: 10.0.0.7}]\n"
         "  nodeInfo: {kubeletVersion: v1.32.0, osImage: Debian 12, kernelVersion: '6.1',\n"
         "    containerRuntimeVersion: lab, machineID: m, systemUUID: u, bootID: b,\n"
         "    kubeProxyVersion: v1.32.0, operatingSystem: linux, architecture: arm64}\n"
         "  conditions: [{type: Ready, status: 'True', reason: Lab, message: fine}]\n";
}

std::string deployment(const std::string& image, int replicas) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
         "spec:\n"
         "  replicas: " +
         std::to_string(replicas) +
         "\n"
         "  selector: {matchLabels: {app: web}}\n"
         "  template:\n"
         "    metadata: {labels: {app: web}}\n"
         "    spec: {containers: [{name: c, image: '" +
         image + "', env: [{name: A, value: x}]}]}\n";
}

// Adds a node that accepts pods.
std::vector<Step> add_node(const std::string& name) {
  return {{{"create", "-f", "-"}, {"node/" + name + " created"}, node(name)},
          {{"taint", "node", name, "node.kubernetes.io/not-ready:NoSchedule-"},
           {"node/" + name + " untainted"}},
          {{"wait", "--for=condition=Ready", "node/" + name, "--timeout=10s"},
           {"node/" + name + " condition met"}}};
}

TEST(Kubectl, SeesNodesAndChangesThem) {
  Cluster cluster;
  follow(cluster, add_node("n1"));
  follow(
      cluster,
      {{{"version"}, {"Server Version", "v1.32.0-holdfast"}},
       {{"get", "nodes"}, {"NAME   STATUS   ROLES    AGE", "n1     Ready    <none>", "v1.32.0"}},
       {{"get", "nodes", "-o", "wide"}, {"INTERNAL-IP", "10.0.0.7", "Debian 12", "lab"}},
       {{"get", "node", "n1", "-o", "yaml"}, {"kind: Node", "kubeletVersion: v1.32.0"}},
       {{"get", "node", "n1", "-o", "json"}, {"\"kind\": \"Node\"", "\"memory\": \"8Gi\""}},
       {{"describe", "node", "n1"}, {"Name:               n1", "Lab", "Non-terminated Pods"}},
       {{"label", "node", "n1", "zone=a"}, {"node/n1 labeled"}},
       {{"annotate", "node", "n1", "note=hello"}, {"node/n1 annotate"}},
       {{"get", "nodes", "-l", "zone=a", "-o", "name"}, {"node/n1"}},
       {{"cordon", "n1"}, {"node/n1 cordoned"}},
       {{"get", "nodes"}, {"Ready,SchedulingDisabled"}},
       {{"uncordon", "n1"}, {"node/n1 uncordoned"}},
       {{"taint", "node", "n1", "k=v:NoExecute"}, {"node/n1 tainted"}},
       {{"describe", "node", "n1"}, {"Taints:             k=v:NoExecute"}},
       {{"taint", "node", "n1", "k-"}, {"node/n1 untainted"}},
       {{"patch", "node", "n1", "--type=merge", "-p", R"({"metadata":{"labels":{"b":"1"}}})"},
        {"node/n1 patched"}},
       {{"patch", "node", "n1", "--type=json", "-p",
         R"([{"op":"remove","path":"/metadata/labels/b"}])"},
        {"node/n1 patched"}},
       {{"patch", "node", "n1", "-p", R"({"spec":{"taints":[{"key":"s","effect":"NoSchedule"}]}})"},
        {"node/n1 patched"}},
       {{"get", "node", "n1", "-o", "jsonpath={.spec.taints[0].key} {.metadata.labels}"},
        {R"(s {"zone":"a"})"}},
       {{"delete", "node", "n1"}, {"node \"n1\" deleted"}},
       {{"get", "node", "n1"}, {"nodes \"n1\" not found"}, {}, 1}});
}

TEST(Kubectl, RunsADeployment) {
  Cluster cluster;
  follow(cluster, add_node("n1"));
  follow(
      cluster,
      {{{"apply", "-f", "-"}, {"deployment.apps/web created"}, deployment("x:1", 2)},
       {{"apply", "-f", "-"}, {"deployment.apps/web unchanged"}, deployment("x:1", 2)},
       {{"wait", "--for=condition=PodScheduled", "pod", "-l", "app=web", "--timeout=10s"},
        {"condition met"}},
       {{"get", "deployments,replicasets,pods", "-o", "wide"},
        {"deployment.apps/web   0/2", "replicaset.apps/web-", "pod/web-", "Pending", "n1",
         "app=web,pod-template-hash="}},
       {{"scale", "deployment", "web", "--replicas=3"}, {"deployment.apps/web scaled"}},
       {{"get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"}, {"3"}},
       {{"apply", "-f", "-"}, {"deployment.apps/web configured"}, deployment("x:2", 1)},
       {{"get", "deployment", "web", "-o",
         "jsonpath={.spec.template.spec.containers[*].image} {.metadata.generation}"},
        {"x:2 3"}},
       {{"rollout", "history", "deployment", "web"}, {"REVISION", "2"}},
       {{"describe", "deployment", "web"}, {"Name:                   web", "x:2", "NewReplicaSet"}},
       {{"describe", "pods", "-l", "app=web"}, {"Node:", "n1", "QoS Class:", "BestEffort"}},
       {{"delete", "pods", "-l", "app=web", "--grace-period=0", "--force"}, {"force deleted"}},
       {{"drain", "n1", "--force", "--grace-period=0", "--timeout=20s"},
        {"node/n1 cordoned", "evicting pod default/web-", "evicted\nnode/n1 "}},
       {{"delete", "deployment", "web"}, {"deployment.apps \"web\" deleted"}},
       {{"get", "pods,replicasets"}, {"No resources found"}, {}, 0, true}});
}

TEST(Kubectl, CreatesAndEdits) {
  Cluster cluster;
  const std::string editor = (cluster.home() / "editor").string();
  ASSERT_TRUE(fs::atomic_write(editor, "#!/bin/sh\nsed -i 's/k: v/k: w/' \"$1\"\n", 0755));
  follow(cluster,
         {{{"create", "namespace", "t"}, {"namespace/t created"}},
          {{"-n", "t", "create", "configmap", "c", "--from-literal=k=v"}, {"configmap/c created"}},
          {{"-n", "t", "create", "secret", "generic", "s", "--from-literal=k=v"},
           {"secret/s created"}},
          {{"-n", "t", "get", "secret", "s", "-o", "jsonpath={.data.k}"}, {"dg=="}},
          {{"-n", "t", "create", "serviceaccount", "a"}, {"serviceaccount/a created"}},
          {{"-n", "t", "create", "deployment", "d", "--image=x"}, {"deployment.apps/d created"}},
          {{"-n", "t", "expose", "deployment", "d", "--port=80"}, {"service/d exposed"}},
          {{"-n", "t", "get", "services"}, {"CLUSTER-IP", "ClusterIP", "80/TCP"}},
          {{"-n", "t", "get", "all"},
           {"pod/d-", "service/d", "deployment.apps/d", "replicaset.apps/d-"}},
          {{"-n", "t", "create", "-f", "-"},
           {"error", "unknown field"},
           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndota: {a: b}\n",
           1},
          {{"-n", "t", "create", "-f", "-"},
           {"Pod \"bad\" is invalid", "spec.containers"},
           "apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {containers: []}\n",
           1},
          {{"explain", "pod.spec.tolerations"}, {"tolerationSeconds"}},
          {{"api-resources"}, {"deployments", "poddisruptionbudgets"}},
          {{"-n", "t", "get", "configmap", "c", "-o", "jsonpath={.data.k}"}, {"v"}},
          {{"delete", "namespace", "t"}, {"namespace \"t\" deleted"}},
          {{"get", "namespace", "t"}, {"namespaces \"t\" not found"}, {}, 1},
          {{"create", "configmap", "c", "--from-literal=k=v"}, {"configmap/c created"}}});
  proc::SpawnPlan edit = cluster.plan({"edit", "configmap", "c"});
  edit.env.push_back("EDITOR=" + editor);
  Child child(edit);
  EXPECT_EQ(child.wait(60s), 0) << child.output();
  EXPECT_EQ(cluster.kubectl({"get", "configmap", "c", "-o", "jsonpath={.data.k}"}).output, "w");
}

// Applies those objects of our manifests whose kinds the lab has; it has no monitors.
TEST(Kubectl, TakesOurManifests) {
  Cluster cluster;
  const std::string file = std::string(HOLDFAST_SOURCE_ROOT) + "/cross/k8s/cloud.yaml";
  const std::string roles = std::string(HOLDFAST_SOURCE_ROOT) + "/cross/k8s/cloud-rbac.yaml";
  follow(cluster,
         {{{"create", "--dry-run=server", "-f", file},
           {"deployment.apps/holdfast-cloud created",
            "poddisruptionbudget.policy/holdfast-cloud created", "service/holdfast-cloud created"}},
          {{"apply", "-f", roles},
           {"clusterrole.rbac.authorization.k8s.io/holdfast-cloud created",
            "rolebinding.rbac.authorization.k8s.io/holdfast-cloud created"}}});
}

TEST(Kubectl, Watches) {
  Cluster cluster;
  follow(cluster, {{{"create", "configmap", "first"}, {"created"}}});
  Child child(cluster.plan({"get", "configmaps", "-w", "--output-watch-events"}));
  ASSERT_TRUE(child.says("ADDED      first", 10s)) << child.output();  // from now on it watches
  follow(cluster, {{{"create", "configmap", "c", "--from-literal=k=v"}, {"created"}},
                   {{"label", "configmap", "c", "a=b"}, {"labeled"}},
                   {{"delete", "configmap", "c"}, {"deleted"}}});
  for (const std::string event : {"ADDED      c", "MODIFIED   c", "DELETED    c"}) {
    EXPECT_TRUE(child.says(event, 10s)) << child.output();
  }
}

TEST(Kubectl, AppliesOnTheServer) {
  Cluster cluster;
  const std::string map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {x: \"";
  const Words apply = {"apply", "--server-side", "-f", "-"};
  const Words other = {"apply", "--server-side", "--field-manager=other", "-f", "-"};
  Words forced = other;
  forced.emplace_back("--force-conflicts");
  follow(cluster, {{apply, {"configmap/m serverside-applied"}, map + "1\", w: \"1\"}\n"},
                   {other,
                    {"Apply failed with 1 conflict: conflict with \"kubectl\": .data.x"},
                    map + "2\"}\n",
                    1},
                   {forced, {"configmap/m serverside-applied"}, map + "2\"}\n"},
                   {{"get", "cm", "m", "--show-managed-fields", "-o", "yaml"},
                    {"manager: kubectl", "manager: other", "f:x: {}", "operation: Apply"}},
                   {apply, {"configmap/m serverside-applied"}, map + "2\"}\n"},
                   {{"get", "cm", "m", "-o", "jsonpath={.data}"}, {R"({"x":"2"})"}},
                   {{"apply", "-f", "-"}, {"configmap/m configured"}, map + "3\"}\n"},
                   {{"get", "cm", "m", "-o", "jsonpath={.data}"}, {R"({"x":"3"})"}}});
}

TEST(Kubectl, DefinesKinds) {
  Cluster cluster;
  const std::string definition = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sites.edge.example.com}
spec:
  group: edge.example.com
  scope: Namespaced
  names: {plural: sites, kind: Site, shortNames: [si]}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns: [{name: Nodes, type: integer, jsonPath: .spec.nodes}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [nodes]
            properties:
              nodes: {type: integer, minimum: 1, description: How many nodes the site has.}
)";
  const auto site = [](std::string_view nodes) {
    return "apiVersion: edge.example.com/v1\nkind: Site\nmetadata: {name: a}\nspec: {nodes: " +
           std::string(nodes) + "}\n";
  };
  follow(cluster,
         {{{"apply", "-f", "-"}, {"sites.edge.example.com created"}, definition},
          {{"wait", "--for=condition=Established", "crd/sites.edge.example.com"}, {"met"}},
          {{"apply", "-f", "-"}, {"site.edge.example.com/a created"}, site("2")},
          {{"apply", "-f", "-"},
           {"spec.nodes in body should be greater than or equal to 1"},
           site("0"),
           1},
          {{"apply", "-f", "-"}, {"site.edge.example.com/a configured"}, site("3")},
          {{"get", "si"}, {"NAME   NODES", "a      3"}},
          {{"explain", "site.spec.nodes"}, {"How many nodes the site has."}},
          {{"explain", "pod.spec.hostNetwork"}, {"Whether the pod uses the node's network."}},
          {{"delete", "crd", "sites.edge.example.com"}, {"deleted"}},
          {{"get", "si"}, {"the server could not find the requested resource"}, {}, 1}});
}

}  // namespace
}  // namespace holdfast
