// `holdfast-lab up --kubectl-context`: what it adds to the user's own kubeconfig, and that nothing
// of it is left afterwards. `--write-kubeconfig` writes a file that stays.

#include <sys/wait.h>

#include "platform/fs/file.h"
#include "platform/proc/notify.h"
#include "test/e2e/processes.h"
#include "test/support/scratch_dir.h"

namespace holdfast::test {
namespace {

constexpr const char* own_kubeconfig = R"(apiVersion: v1
kind: Config
current-context: mine
clusters:
- name: mine
  cluster: {server: "https://192.0.2.1"}
contexts:
- name: mine
  context: {cluster: mine, user: mine}
users:
- name: mine
  user: {token: secret}
)";

class LabContext : public ::testing::Test {
 protected:
  LabContext() {
    std::filesystem::create_directory(path(".kube"));
    EXPECT_TRUE(fs::atomic_write(path(".kube/config"), own_kubeconfig));
  }
  ~LabContext() override {
    if (HasFailure()) print_end(path("up.log"));
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (scratch_.path() / name).string();
  }
  // A program of this user, whose home is the scratch folder.
  [[nodiscard]] std::vector<std::string> at_home(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"/usr/bin/env", "PATH=" + *proc::system_environment("PATH"),
                                    "HOME=" + scratch_.path().string()};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  [[nodiscard]] std::vector<std::string> up_words(const std::string& data) const {
    return at_home({HOLDFAST_BIN_DIR "/holdfast-lab", "up", "--nodes=1", "--data=" + path(data),
                    "--control=127.0.0.1:" + std::to_string(free_port()),
                    "--write-kubeconfig=" + path(data + ".written"), "--kubectl-context"});
  }

  struct Ended {
    int code = -1;
    std::string output;
  };
  [[nodiscard]] Ended run(const std::vector<std::string>& words) const {
    (void)fs::remove_tree(path("command.log"));
    Process process(words, path("command.log"));
    const auto status = process.wait(60s);
    return {status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1,
            fs::read_all(path("command.log"), 1UL << 20).value_or("")};
  }
  [[nodiscard]] Ended kubectl(std::vector<std::string> words) const {
    words.insert(words.begin(), "kubectl");
    return run(at_home(words));
  }

  ScratchDir scratch_;
};

TEST_F(LabContext, IsNotTheCurrentOneAndIsRemovedAtTheEnd) {
  const std::string before = kubectl({"config", "view", "--raw"}).output;
  ASSERT_NE(before.find("current-context: mine"), std::string::npos) << before;
  Process up(up_words("lab"), path("up.log"));
  const auto shows_node = [this](const std::string& access) {
    return eventually(60s, [this, access] {
      return kubectl({access, "get", "node", "edge-1", "--output=name"}).output == "node/edge-1\n";
    });
  };
  EXPECT_TRUE(shows_node("--context=holdfast-lab"));
  EXPECT_TRUE(shows_node("--kubeconfig=" + path("lab.written")));
  EXPECT_EQ(kubectl({"config", "current-context"}).output, "mine\n");

  // A second one does not replace the context of the first one.
  const Ended second = run(up_words("second"));
  EXPECT_EQ(second.code, 1);
  EXPECT_NE(second.output.find("your kubeconfig already has a context holdfast-lab"),
            std::string::npos)
      << second.output;
  EXPECT_TRUE(shows_node("--context=holdfast-lab"));

  up.signal(SIGINT);
  const auto status = up.wait(60s);
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 0);
  EXPECT_EQ(kubectl({"config", "view", "--raw"}).output, before);
  EXPECT_TRUE(fs::read_all(path("lab.written"), 1UL << 20)) << "this file stays";
  EXPECT_EQ(processes_naming(scratch_.path().string()), std::vector<std::string>());
}

}  // namespace
}  // namespace holdfast::test
