// The agent as a process: how it stops, which configurations it refuses, and which damage it
// survives.

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "platform/fs/file.h"
#include "platform/random.h"
#include "test/e2e/edge_bench.h"

namespace holdfast::test {
namespace {

class EdgeProcess : public ::testing::Test, public EdgeBench {
 protected:
  // Runs another agent to its end. Returns its exit code and its output.
  std::pair<int, std::string> run(std::vector<std::string> argv) {
    const std::string log = (dir() / "other.log").string();
    std::filesystem::remove(log);
    Process other(std::move(argv), log);
    const auto status = other.wait(10s);
    if (!status || !WIFEXITED(*status)) return {-1, "did not end by itself"};
    return {WEXITSTATUS(*status), fs::read_all(log, 1 << 20).value()};
  }
};

TEST_F(EdgeProcess, StopsOrderlyWithWatchesOpen) {
  start_server();
  make_node();
  make_pod("p1");
  start_agent();
  ASSERT_TRUE(wait_for_link("connected"));
  warm({node_pods, own_node});
  Watch one(agent_port, node_pods + "&watch=true&resourceVersion=0");
  Watch two(agent_port, own_node + "&watch=true&resourceVersion=0");
  ASSERT_TRUE(one.next_change());
  ASSERT_TRUE(two.next_change());
  const MonoTime began = now();
  agent->signal(SIGTERM);
  EXPECT_FALSE(one.next_change(5s));
  EXPECT_TRUE(one.ended());
  const auto status = agent->wait(10s);
  ASSERT_TRUE(status);
  EXPECT_LT(now() - began, 5s);
  EXPECT_TRUE(WIFEXITED(*status)) << *status;
  EXPECT_EQ(WEXITSTATUS(*status), 0);
}

TEST_F(EdgeProcess, StopsOrderlyWhileTheCloudIsABlackHole) {
  start_server();
  make_node();
  start_agent();
  ASSERT_TRUE(wait_for_link("connected"));
  server->signal(SIGSTOP);
  const MonoTime began = now();
  agent->signal(SIGTERM);
  const auto status = agent->wait(10s);
  ASSERT_TRUE(status);
  EXPECT_LT(now() - began, 6s);
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 0) << *status;
}

TEST_F(EdgeProcess, ASecondAgentOnTheSameDataIsRefused) {
  start_server();
  make_node();
  start_agent();
  std::vector<std::string> argv = agent_argv({});
  for (std::string& flag : argv) {
    if (flag.starts_with("--listen=")) flag = "--listen=127.0.0.1:0";
    if (flag.starts_with("--admin-listen=")) flag = "--admin-listen=127.0.0.1:0";
  }
  const auto [code, said] = run(argv);
  EXPECT_EQ(code, 2) << said;
  EXPECT_NE(said.find(agent_dir().string()), std::string::npos) << said;
  EXPECT_TRUE(agent_ready()) << "the first agent keeps running";
}

TEST_F(EdgeProcess, ATakenAddressIsNamed) {
  start_server();
  make_node();
  start_agent();
  std::vector<std::string> argv = agent_argv({});
  for (std::string& flag : argv) {
    if (flag.starts_with("--data-dir=")) flag = "--data-dir=" + (dir() / "second").string();
  }
  const auto [code, said] = run(argv);
  EXPECT_EQ(code, 2) << said;
  EXPECT_NE(said.find("127.0.0.1:" + std::to_string(agent_port)), std::string::npos) << said;
}

TEST_F(EdgeProcess, BadSettingsAreNamed) {
  const std::string config = "--kubeconfig=" + (dir() / "agent.kubeconfig").string();
  const std::string data = "--data-dir=" + agent_dir().string();
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{config, data}, "--node-name"},
      {{"--node-name=a", data}, "--kubeconfig"},
      {{"--node-name=A_b", config, data}, "--node-name"},
      {{"--node-name=a", "--kubeconfig=/nowhere/k", data}, "/nowhere/k"},
      {{"--node-name=a", config, data, "--listen=nonsense"}, "--listen"},
      {{"--node-name=a", config, data, "--runtime=process"}, "start holdfast-node"},
      {{"--node-name=a", config, data, "--allowed-uids=root"}, "--allowed-uids"},
      {{"--node-name=a", config, data, "--read-deadline=0s"}, "--read-deadline"},
      {{"--node-name=a", config, data, "--read-deadline=soon"}, "read-deadline"},
      {{"--node-name=a", config, data, "--lease-duration=5s"}, "--lease-renew-interval"},
      {{"--node-name=a", config, data, "--log-level=loud"}, "loud"},
      {{"--node-name=a", config, "--data-dir=/proc/nowhere"}, "--data-dir"},
      {{"--node-name=a", config, data, "--no-such-flag"}, "no-such-flag"},
  };
  for (auto [flags, part] : cases) {
    flags.insert(flags.begin(), "holdfast-edge");
    const auto [code, said] = run(flags);
    EXPECT_EQ(code, 2) << part << ": " << said;
    EXPECT_NE(said.find(part), std::string::npos) << said;
  }
}

// Inverts bits in `bytes` bytes of a file.
void damage(const std::filesystem::path& file, std::uint64_t from, int bytes) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  std::string old(static_cast<std::size_t>(bytes), '\0');
  stream.seekg(static_cast<std::streamoff>(from));
  stream.read(old.data(), bytes);
  for (char& byte : old) byte = static_cast<char>(byte ^ 0x5a);
  stream.clear();
  stream.seekp(static_cast<std::streamoff>(from));
  stream.write(old.data(), bytes);
}

TEST_F(EdgeProcess, ADamagedCacheIsSetAsideAndListedAgain) {
  start_server();
  make_node();
  for (int i = 0; i < 20; ++i) make_pod("p" + std::to_string(i));
  Random random(7);
  for (int round = 0; round < 8; ++round) {
    start_agent();
    ASSERT_TRUE(wait_for_link("connected"));
    warm({node_pods, own_node});
    ASSERT_TRUE(get(agent_port, node_pods + "&resourceVersion=0").status == 200);
    // SIGKILL leaves a write-ahead log behind, SIGTERM does not.
    agent->signal(round % 2 == 0 ? SIGTERM : SIGKILL);
    ASSERT_TRUE(agent->wait(10s));
    agent.reset();
    const auto file = agent_dir() / "cache.db";
    const std::uint64_t size = std::filesystem::file_size(file);
    // Damages the header first, then random places.
    damage(file, round == 0 ? 0 : random.below(size - 400), 400);
    launch_agent();
    ASSERT_TRUE(eventually(10s, [this] { return agent_ready(); })) << "round " << round;
    ASSERT_TRUE(wait_for_link("connected"));
    warm({node_pods, own_node});
    const json::value items = get(agent_port, node_pods + "&resourceVersion=0").value().at("items");
    EXPECT_EQ(items.as_array().size(), 20u) << "round " << round;
  }
  int kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(agent_dir())) {
    if (entry.path().filename().string().starts_with("cache.db.damaged-")) ++kept;
  }
  EXPECT_GT(kept, 0);
}

TEST_F(EdgeProcess, ADamagedCacheIsNeverAnsweredFromWhileOffline) {
  start_server();
  make_node();
  for (int i = 0; i < 20; ++i) make_pod("p" + std::to_string(i));
  start_agent();
  ASSERT_TRUE(wait_for_link("connected"));
  warm({node_pods});
  agent->signal(SIGTERM);
  ASSERT_TRUE(agent->wait(10s));
  server->kill();
  const auto file = agent_dir() / "cache.db";
  const auto sound = fs::read_all(file.string(), 64 << 20).value();
  const std::size_t page = 4096;
  for (std::size_t at = page / 2; at + 16 < sound.size(); at += page) {
    agent.reset();
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << sound;
    damage(file, at, 16);
    launch_agent();
    ASSERT_TRUE(eventually(10s, [this] { return get(admin_port, "/healthz").status == 200; }));
    const Answer answer = get(agent_port, node_pods + "&resourceVersion=0");
    if (answer.status == 503) continue;
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.value().at("items").as_array().size(), 20u) << "byte " << at;
  }
}

}  // namespace
}  // namespace holdfast::test
