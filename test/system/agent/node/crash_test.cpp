// An agent that is killed at a random moment neither starts a container twice nor forgets one.

#include <set>

#include "platform/random.h"
#include "platform/text.h"
#include "sync/wire/codec.h"
#include "test/system/agent/node/processes.h"
#include "test/system/agent/node/runtime_harness.h"

namespace holdfast::agent::node {
namespace {

using namespace std::chrono_literals;

constexpr int pods_per_round = 3;

class Crash : public testing::Test {
 protected:
  ~Crash() override {
    for (const pid_t pid : leaders("")) {
      if (const auto identity = proc::identify(pid)) test::kill_now(*identity);
    }
    test::kill_everything_below(dir());
  }

  [[nodiscard]] fs::Path dir() const { return scratch_.path() / "runtime"; }
  [[nodiscard]] fs::Path list_file() const { return scratch_.path() / "list.json"; }
  [[nodiscard]] std::string mark() const { return "MARK=" + scratch_.path().string(); }

  // Pods with names that no other round uses.
  [[nodiscard]] std::vector<std::shared_ptr<sync::Pod>> pods_of(int round) const {
    std::vector<std::shared_ptr<sync::Pod>> pods;
    for (int i = 0; i < pods_per_round; ++i) {
      auto pod = test::script_pod("p" + std::to_string(round) + "-" + std::to_string(i),
                                  "exec sleep 1000");
      sync::EnvVar variable;
      variable.name = "MARK";
      variable.value = scratch_.path().string();
      pod->spec.containers[0].env.push_back(std::move(variable));
      pods.push_back(std::move(pod));
    }
    return pods;
  }

  void write_list(const std::vector<std::shared_ptr<sync::Pod>>& pods) const {
    std::vector<std::string> items;
    for (const auto& pod : pods) items.push_back(sync::wire::encode_bytes(*pod));
    ASSERT_TRUE(fs::atomic_write(list_file(), "[" + join(items, ",") + "]"));
  }

  // The first processes of all running containers of this test, or only of `pod`.
  [[nodiscard]] std::set<pid_t> leaders(const std::string& pod) const {
    std::set<pid_t> found;
    const auto names = fs::list_dir("/proc");
    for (const std::string& name : *names) {
      const auto pid = parse_int<pid_t>(name);
      if (!pid || ::getsid(*pid) != *pid) continue;
      const auto environ = fs::read_all("/proc/" + name + "/environ", 1U << 20);
      if (!environ || environ->find(mark()) == std::string::npos) continue;
      if (environ->find("HOSTNAME=" + pod) == std::string::npos) continue;
      const auto stat = proc::read_stat(*pid);
      if (stat && !stat->is_dead()) found.insert(*pid);
    }
    return found;
  }

  void run_and_kill(Random& random) const {
    const auto agent =
        proc::spawn({.argv = {test::test_program(), "agent", dir().string(), list_file().string()},
                     .log = scratch_.path() / "agent.log"});
    ASSERT_TRUE(agent) << agent.error().what;
    const auto pidfd = proc::open_pidfd(*agent);
    ASSERT_TRUE(pidfd);
    EXPECT_FALSE(proc::wait_for_end(*pidfd, random.jitter(60ms)))
        << "it ended by itself: see " << agent_log();
    ASSERT_TRUE(proc::signal_process(*agent, SIGKILL));
    EXPECT_TRUE(proc::wait_for_end(*pidfd, 30s));
    (void)proc::reap(agent->pid);
  }

  [[nodiscard]] std::string agent_log() const {
    return fs::read_all(scratch_.path() / "agent.log", 1U << 20).value_or("");
  }

  holdfast::test::ScratchDir scratch_;
};

TEST_F(Crash, AtAnyMoment) {
  const std::uint64_t seed = Random::from_entropy().next();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  constexpr int rounds = 30;
  for (int round = 0; round < rounds; ++round) {
    const auto pods = pods_of(round / 3);  // some rounds reuse the pods of the last one
    write_list(pods);
    run_and_kill(random);
    for (const auto& pod : pods) EXPECT_LE(leaders(pod->metadata.name).size(), 1u);
  }
  const auto last = pods_of(rounds);
  test::RuntimeHarness agent(dir());
  agent.source.list(last);
  for (const auto& pod : last) (void)agent.await_running(pod->metadata.name, 0);
  EXPECT_TRUE(agent.run_until([this] { return leaders("").size() == pods_per_round; }))
      << leaders("").size() << " run: some were forgotten";
  for (const auto& pod : last) EXPECT_EQ(leaders(pod->metadata.name).size(), 1u);
  agent.source.list({});
  EXPECT_TRUE(agent.run_until([this] { return leaders("").empty(); }));
}

}  // namespace
}  // namespace holdfast::agent::node
