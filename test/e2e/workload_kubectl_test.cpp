// An unmodified kubectl with Jobs, StatefulSets and roles, on the lab's API server with hollow
// nodes.

#include <sys/wait.h>

#include "agent/client/kubeconfig.h"
#include "platform/fs/file.h"
#include "platform/proc/notify.h"
#include "test/e2e/processes.h"
#include "test/support/scratch_dir.h"

namespace holdfast::test {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view set_manifest = R"(apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: c, image: "x:1", volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
)";

class WorkloadsProcess : public ::testing::Test {
 protected:
  ~WorkloadsProcess() override {
    if (!HasFailure()) return;
    for (const char* log : {"server.log", "nodes.log", "cloud.log"}) print_end(path(log));
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (scratch_.path() / name).string();
  }

  void start_server(Words flags) {
    Words words = {"holdfast-lab", "apiserver", "--listen=127.0.0.1:0", "--data=" + path("data"),
                   "--write-kubeconfig=" + path("kubeconfig")};
    words.insert(words.end(), flags.begin(), flags.end());
    server_ = std::make_unique<Process>(words, path("server.log"));
    ASSERT_TRUE(eventually(30s, [this] { return std::filesystem::exists(path("kubeconfig")); }));
  }
  void start_nodes() {
    cloud_ = std::make_unique<Process>(
        Words{"holdfast-cloud", "--kubeconfig=" + path("kubeconfig"), "--secure-port=0"},
        path("cloud.log"));
    nodes_ = std::make_unique<Process>(
        Words{"holdfast-lab", "nodes", "--kubeconfig=" + path("kubeconfig"), "--count=2",
              "--pods-start=0s", "--pods-stop=0s", "--pod-lifetime=200ms",
              "--control=127.0.0.1:" + std::to_string(free_port())},
        path("nodes.log"));
  }

  struct Ended {
    int code = -1;
    std::string output;
  };
  Ended kubectl(Words words, const std::string& kubeconfig = "kubeconfig") {
    words.insert(words.begin(), {"/usr/bin/env", "PATH=" + *proc::system_environment("PATH"),
                                 "HOME=" + scratch_.path().string(), "kubectl",
                                 "--kubeconfig=" + path(kubeconfig)});
    (void)fs::remove_tree(path("command.log"));
    Process process(words, path("command.log"));
    const auto status = process.wait(60s);
    return {status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1,
            fs::read_all(path("command.log"), 1UL << 20).value_or("")};
  }
  // Runs a command that must succeed, and say this.
  void expect(const Words& words, const std::string& says) {
    const Ended ended = kubectl(words);
    EXPECT_EQ(ended.code, 0) << words.front() << ": " << ended.output;
    EXPECT_NE(ended.output.find(says), std::string::npos) << words.front() << ": " << ended.output;
  }

  ScratchDir scratch_;
  std::unique_ptr<Process> server_;
  std::unique_ptr<Process> cloud_;
  std::unique_ptr<Process> nodes_;
};

TEST_F(WorkloadsProcess, KubectlRunsJobsAndStatefulSets) {
  start_server({});
  start_nodes();
  expect({"create", "job", "pi", "--image=x:1"}, "job.batch/pi created");
  expect({"wait", "job/pi", "--for=condition=Complete", "--timeout=40s"}, "condition met");
  expect({"get", "job", "pi"}, "Complete");
  expect({"describe", "job", "pi"}, "0 Active (0 Ready) / 1 Succeeded / 0 Failed");
  ASSERT_TRUE(fs::atomic_write(path("set.yaml"), std::string(set_manifest)));
  expect({"apply", "-f", path("set.yaml")}, "statefulset.apps/db created");
  expect({"rollout", "status", "statefulset/db", "--timeout=40s"}, "roll out complete");
  expect({"set", "image", "statefulset/db", "c=x:2"}, "image updated");
  expect({"rollout", "status", "statefulset/db", "--timeout=40s"}, "roll out complete");
  expect({"rollout", "history", "statefulset/db"}, "2");
  expect({"rollout", "undo", "statefulset/db"}, "rolled back");
  expect({"rollout", "status", "statefulset/db", "--timeout=40s"}, "roll out complete");
  expect({"get", "pods", "-l", "app=db", "-o",
          "jsonpath={range .items[*]}{.metadata.name}={.spec.containers[0].image} {end}"},
         "db-0=x:1 db-1=x:1 ");
  expect({"scale", "statefulset/db", "--replicas=1"}, "scaled");
  EXPECT_TRUE(eventually(30s, [this] {
    return kubectl({"get", "statefulset", "db"}).output.find("1/1") != std::string::npos;
  }));
  expect({"get", "pvc", "-o", "name"}, "persistentvolumeclaim/data-db-1");
  expect({"get", "all"}, "statefulset.apps/db");
  expect({"delete", "job/pi", "statefulset/db"}, "deleted");
  EXPECT_TRUE(eventually(30s, [this] {
    return kubectl({"get", "pods"}).output.find("No resources found") != std::string::npos;
  })) << kubectl({"get", "pods"}).output;
}

TEST_F(WorkloadsProcess, KubectlAsksWhatACallerMayDo) {
  ASSERT_TRUE(fs::atomic_write(path("tokens"), "root,admin,1,\"system:masters\"\nt,ann,2\n", 0600));
  // Without TLS, kubectl would not send its token.
  start_server({"--token-file=" + path("tokens"), "--tls-dir=" + path("tls"), "--rbac=true"});
  std::string own = fs::read_all(path("kubeconfig"), 1UL << 20).value_or("");
  const std::size_t token = own.find("'root'");
  ASSERT_NE(token, std::string::npos);
  ASSERT_TRUE(fs::atomic_write(path("ann"), own.replace(token, 6, "'t'"), 0600));
  EXPECT_EQ(kubectl({"auth", "can-i", "list", "pods"}, "ann").output, "no\n");
  EXPECT_TRUE(eventually(30s, [this] {
    const Ended made =
        kubectl({"create", "rolebinding", "ann", "--clusterrole=view", "--user=ann"});
    return made.code == 0;
  }));
  EXPECT_TRUE(eventually(30s, [this] {
    return kubectl({"auth", "can-i", "list", "pods"}, "ann").output == "yes\n";
  }));
  EXPECT_EQ(kubectl({"auth", "can-i", "get", "pods", "--subresource=log"}, "ann").output, "yes\n");
  EXPECT_EQ(kubectl({"auth", "can-i", "delete", "pods"}, "ann").output, "no\n");
  EXPECT_EQ(kubectl({"auth", "can-i", "get", "/version"}, "ann").output, "yes\n");
  const Ended rights = kubectl({"auth", "can-i", "--list"}, "ann");
  EXPECT_EQ(rights.code, 0);
  EXPECT_NE(rights.output.find("configmaps"), std::string::npos) << rights.output;
  EXPECT_EQ(rights.output.find("incomplete"), std::string::npos) << rights.output;
  const Ended refused = kubectl({"get", "secrets"}, "ann");
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.output.find("secrets is forbidden: User \"ann\" cannot list resource "
                                "\"secrets\" in API group \"\" in the namespace \"default\""),
            std::string::npos)
      << refused.output;
  EXPECT_NE(kubectl({"get", "pods", "--as=root"}, "ann").code, 0);
  EXPECT_EQ(kubectl({"auth", "can-i", "list", "pods", "--as=ann"}).output, "yes\n");
  EXPECT_NE(kubectl({"get", "rolebindings", "-o", "wide"}).output.find("ClusterRole/view"),
            std::string::npos);
}

}  // namespace
}  // namespace holdfast::test
