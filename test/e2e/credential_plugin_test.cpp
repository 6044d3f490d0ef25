// A kubeconfig whose user has an `exec` credential plug-in works in all programs. The plug-in is
// their only credential, and the API server accepts nobody without one. `holdfast-lab run` is
// tested in lab_guest_test.cpp.

#include <sys/stat.h>

#include <fstream>

#include "platform/fs/file.h"
#include "test/e2e/edge_bench.h"

namespace holdfast::test {
namespace {

class PluginPrograms : public ::testing::Test, public EdgeBench {
 protected:
  void SetUp() override {
    start_server();
    make_node();
  }

  // Writes a plug-in that gives this token and a kubeconfig with it, whose name is returned.
  [[nodiscard]] std::string plugged_kubeconfig(const std::string& token) const {
    const std::string plugin = (dir() / (token + ".plug-in")).string();
    std::ofstream(plugin) << "#!/bin/sh\necho '"
                             R"({"apiVersion":"client.authentication.k8s.io/v1",)"
                             R"("kind":"ExecCredential","status":{"token":")"
                          << token << "\"}}'\n";
    EXPECT_EQ(::chmod(plugin.c_str(), 0700), 0);
    const std::string file = (dir() / (token + ".kubeconfig")).string();
    const std::string text =
        "current-context: c\nclusters:\n- name: c\n  cluster: {server: \"http://127.0.0.1:" +
        std::to_string(server_port) +
        "\"}\ncontexts:\n- name: c\n  context: {cluster: c, user: u}\nusers:\n- name: u\n"
        "  user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
        "command: " +
        plugin + "}}\n";
    EXPECT_TRUE(fs::atomic_write(file, text));
    return file;
  }
  [[nodiscard]] std::vector<std::string> agent_argv_with(const std::string& kubeconfig) const {
    std::vector<std::string> argv = agent_argv({"--secure-listen="});
    std::erase_if(argv, [](const std::string& word) { return word.starts_with("--kubeconfig="); });
    argv.push_back("--kubeconfig=" + kubeconfig);
    return argv;
  }
  [[nodiscard]] bool exists(const std::string& target) const {
    return get_on_server(target).status == 200;
  }
};

TEST_F(PluginPrograms, ReachTheApiServerWithItsTokens) {
  ASSERT_EQ(get(server_port, "/api/v1/nodes").status, 403);
  const std::string as_node = plugged_kubeconfig(node_token);
  const std::string as_admin = plugged_kubeconfig(admin_token);
  const struct {
    std::vector<std::string> argv;
    std::function<bool()> has_worked;
  } rows[] = {
      {agent_argv_with(as_node),
       [this] { return get(admin_port, "/v1/link").text({"state"}) == "connected"; }},
      {{"holdfast-node", "--node-name=edge-a", "--kubeconfig=" + as_node,
        "--data-dir=" + (dir() / "node").string()},
       [this] {
         return !get_on_server("/api/v1/nodes/edge-a")
                     .text({"status", "nodeInfo", "kubeletVersion"})
                     .empty();
       }},
      {{"holdfast-cloud", "--kubeconfig=" + as_admin, "--secure-port=0"},
       [this] {
         return exists("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/holdfast-cloud");
       }},
      {{"holdfast-lab", "nodes", "--kubeconfig=" + as_admin, "--count=1", "--name-prefix=hollow-",
        "--control=127.0.0.1:" + std::to_string(free_port())},
       [this] { return exists("/api/v1/nodes/hollow-0"); }},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.argv.front());
    EXPECT_FALSE(row.has_worked());
    const std::string log = (dir() / (row.argv.front() + ".log")).string();
    const Process program(row.argv, log);
    EXPECT_TRUE(eventually(30s, row.has_worked));
    EXPECT_NE(fs::read_all(log, 1UL << 20).value_or("").find("credential plug-in ran"),
              std::string::npos);
    if (HasFailure()) print_end(log);
  }
}

}  // namespace
}  // namespace holdfast::test
