// `holdfast-lab nodes` against `holdfast-lab apiserver`, with an unmodified kubectl.

#include <sys/wait.h>

#include <algorithm>
#include <map>

#include "agent/client/kubeconfig.h"
#include "agent/lab/hollow/objects.h"
#include "platform/fs/file.h"
#include "platform/proc/notify.h"
#include "test/e2e/processes.h"
#include "test/support/scratch_dir.h"

namespace holdfast::test {
namespace {

using Words = std::vector<std::string>;

constexpr int hollow_count = 20;
constexpr const char* hollow_leases =
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

class HollowNodesProcess : public ::testing::Test {
 protected:
  HollowNodesProcess()
      : server_({"holdfast-lab", "apiserver", "--listen=127.0.0.1:0", "--data=" + path("data"),
                 "--write-kubeconfig=" + path("kubeconfig")},
                path("server.log")) {
    EXPECT_TRUE(eventually(30s, [this] { return std::filesystem::exists(path("kubeconfig")); }));
    const auto access = agent::read_kubeconfig(path("kubeconfig"));
    EXPECT_TRUE(access) << (access ? "" : access.error().what);
    if (access) port_ = access->server.port;
    nodes_ = std::make_unique<Process>(
        Words{"holdfast-lab", "nodes", "--kubeconfig=" + path("kubeconfig"),
              "--count=" + std::to_string(hollow_count), "--name-prefix=edge-", "--zones=4",
              "--lease-interval=500ms", "--lease-seconds=5", "--pods-start=0s", "--pods-stop=0s",
              "--pod-lifetime=100ms", "--delete-on-exit", "--control=" + control_},
        path("nodes.log"));
  }
  ~HollowNodesProcess() override {
    if (!HasFailure()) return;
    for (const char* log : {"server.log", "nodes.log", "command.log"}) print_end(path(log));
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (scratch_.path() / name).string();
  }

  struct Ended {
    int code = -1;
    std::string output;
  };
  Ended run(const Words& words) {
    (void)fs::remove_tree(path("command.log"));
    Process process(words, path("command.log"));
    const auto status = process.wait(30s);
    return {status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1,
            fs::read_all(path("command.log"), 1UL << 20).value_or("")};
  }
  Ended kubectl(Words words) {
    words.insert(words.begin(), {"/usr/bin/env", "PATH=" + *proc::system_environment("PATH"),
                                 "HOME=" + scratch_.path().string(), "kubectl",
                                 "--kubeconfig=" + path("kubeconfig")});
    return run(words);
  }
  Ended command(Words words) {
    words.insert(words.begin(), {"holdfast-lab", "nodes", "--control=" + control_});
    return run(words);
  }

  // The number of lines of `kubectl get nodes` that show Ready.
  int ready() {
    const Ended shown = kubectl({"get", "nodes", "--no-headers"});
    int count = 0;
    for (std::size_t at = 0; (at = shown.output.find(" Ready ", at)) != std::string::npos; ++at) {
      ++count;
    }
    return count;
  }

  // renewTime by node.
  [[nodiscard]] std::map<std::string, std::string> renewals() const {
    std::map<std::string, std::string> times;
    const json::value list = get(port_, hollow_leases).value();
    for (const json::value& lease : list.at("items").as_array()) {
      times[text_in(lease, {"metadata", "name"})] = text_in(lease, {"spec", "renewTime"});
    }
    return times;
  }

  // Waits until the leases of all nodes but these were renewed.
  bool others_renewed(const Words& silent) {
    const auto before = renewals();
    return eventually(20s, [this, &silent, &before] {
      const auto now = renewals();
      return std::all_of(now.begin(), now.end(), [&silent, &before](const auto& entry) {
        const bool is_silent = std::find(silent.begin(), silent.end(), entry.first) != silent.end();
        return is_silent || entry.second != before.at(entry.first);
      });
    });
  }

  ScratchDir scratch_;
  const std::string control_ = "127.0.0.1:" + std::to_string(free_port());
  Process server_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Process> nodes_;
};

TEST_F(HollowNodesProcess, SilencedNodesRenewNothingUntilTheyAreResumed) {
  ASSERT_TRUE(eventually(30s, [this] { return ready() == hollow_count; }));
  ASSERT_TRUE(eventually(10s, [this] { return renewals().size() == hollow_count; }));

  const Words silent = {"edge-1", "edge-2", "edge-3"};
  const Ended silenced = command({"silence", "edge-1", "edge-2", "edge-3"});
  ASSERT_EQ(silenced.code, 0) << silenced.output;
  EXPECT_EQ(silenced.output, "3 matched, 3 silenced\n");
  ASSERT_TRUE(others_renewed(silent));  // a renewal that was under way has ended, too
  const auto before = renewals();
  ASSERT_TRUE(others_renewed(silent));
  ASSERT_TRUE(others_renewed(silent));
  const auto after = renewals();
  for (const std::string& node : silent) EXPECT_EQ(before.at(node), after.at(node)) << node;
  EXPECT_NE(command({"list"}).output.find("silent"), std::string::npos);

  EXPECT_EQ(command({"resume", "--selector=topology.kubernetes.io/zone=zone-1"}).output,
            "5 matched, 1 resumed\n");
  ASSERT_TRUE(
      eventually(10s, [this, &after] { return renewals().at("edge-1") != after.at("edge-1"); }));
  EXPECT_EQ(renewals().at("edge-2"), after.at("edge-2"));
  EXPECT_EQ(command({"resume", "edge-77"}).code, 2);
}

TEST_F(HollowNodesProcess, PodsRunSucceedAndEnd) {
  const std::string pods = "/api/v1/namespaces/default/pods";
  ASSERT_TRUE(eventually(30s, [this] { return ready() == hollow_count; }));
  const std::string body = agent::hollow::bound_pod({"web", "edge-4", "z", 300});
  ASSERT_EQ(ask(port_, {.method = http::Method::post, .target = pods, .body = body}).status, 201);
  std::string job = agent::hollow::bound_pod({"sum", "edge-5", "z", 300});
  job.insert(job.find("\"nodeName\""), R"("restartPolicy":"Never",)");
  ASSERT_EQ(ask(port_, {.method = http::Method::post, .target = pods, .body = job}).status, 201);
  const auto phase = [this, &pods](const std::string& name) {
    return get(port_, pods + "/" + name).text({"status", "phase"});
  };
  EXPECT_TRUE(eventually(20s, [&phase] { return phase("web") == "Running"; })) << phase("web");
  EXPECT_TRUE(eventually(20s, [&phase] { return phase("sum") == "Succeeded"; })) << phase("sum");
  const Ended deleted = kubectl({"delete", "pod", "web", "--timeout=20s"});
  EXPECT_EQ(deleted.code, 0) << deleted.output;
  EXPECT_EQ(get(port_, pods + "/web").status, 404);
}

TEST_F(HollowNodesProcess, TheNodesAreDeletedAtTheEndIfAskedFor) {
  ASSERT_TRUE(eventually(30s, [this] { return ready() == hollow_count; }));
  nodes_->signal(SIGTERM);
  const auto status = nodes_->wait(30s);
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 0);
  EXPECT_EQ(ready(), 0);
  EXPECT_TRUE(eventually(10s, [this] { return renewals().empty(); }));
}

}  // namespace
}  // namespace holdfast::test
