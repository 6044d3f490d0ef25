// The runtime with real shims and real containers.

#include "agent/node/process/process_runtime.h"

#include <signal.h>

#include "test/support/full_disk.h"
#include "test/system/agent/node/processes.h"
#include "test/system/agent/node/runtime_harness.h"

namespace holdfast::agent::node {
namespace {

using test::RuntimeHarness;
using test::script_pod;

class ProcessPods : public testing::Test {
 protected:
  ~ProcessPods() override {
    agent_.reset();
    test::kill_everything_below(dir());
  }

  [[nodiscard]] fs::Path dir() const { return scratch_.path() / "runtime"; }
  [[nodiscard]] fs::Path attempt(const std::string& pod, int number) const {
    return dir() / "pods" / ("uid-" + pod) / "c" / std::to_string(number);
  }
  [[nodiscard]] fs::Path work(const std::string& pod) const {
    return dir() / "pods" / ("uid-" + pod) / "c/work";
  }
  [[nodiscard]] proc::ProcessIdentity process(const std::string& pod, int number) const {
    return read_run(attempt(pod, number)).value().process;
  }
  [[nodiscard]] bool is_there(const fs::Path& path) const { return std::filesystem::exists(path); }

  RuntimeHarness& agent() {
    if (!agent_) agent_ = std::make_unique<RuntimeHarness>(dir());
    return *agent_;
  }
  // Stops the agent; the next call of agent() starts a new one.
  void stop_agent() { agent_.reset(); }

 private:
  holdfast::test::ScratchDir scratch_;
  std::unique_ptr<RuntimeHarness> agent_;
};

TEST_F(ProcessPods, RunsAPodAndReportsIt) {
  agent().source.list({script_pod("a", "echo hello; touch up; exec sleep 1000")});
  const auto status = agent().await_running("a", 0);
  EXPECT_EQ(status.container_id, "process://uid-a/c/0");
  EXPECT_TRUE(status.ready);
  ASSERT_TRUE(test::await_files(work("a"), [this] { return is_there(work("a") / "up"); }));
  EXPECT_EQ(fs::read_all(attempt("a", 0) / log_file, 99).value(), "hello\n");
  EXPECT_EQ(agent().sink.statuses.at("a").phase, "Running");
}

TEST_F(ProcessPods, RestartsWhatEnds) {
  agent().source.list({script_pod("a", "test -e done && exec sleep 1000; touch done; exit 3")});
  const auto status = agent().await_running("a", 1);
  ASSERT_TRUE(status.last_state.terminated);
  EXPECT_EQ(status.last_state.terminated->exit_code, 3);
  EXPECT_EQ(status.last_state.terminated->container_id, "process://uid-a/c/0");
}

TEST_F(ProcessPods, WhatEndsAgainAndAgainWaits) {
  agent().source.list({script_pod("a", "exit 3")});
  const auto status = agent().await_waiting("a", "CrashLoopBackOff");
  ASSERT_TRUE(status.state.waiting);
  EXPECT_EQ(status.state.waiting->message,
            "back-off 10s restarting failed container=c pod=a_default(uid-a)");
  ASSERT_TRUE(status.last_state.terminated);
  EXPECT_EQ(status.last_state.terminated->exit_code, 3);
  EXPECT_EQ(status.restart_count, 1);
}

TEST_F(ProcessPods, ADeletedPodStopsGracefullyAndIsGone) {
  auto pod = script_pod("a", "trap 'exit 0' TERM; touch up; while :; do sleep 1; done");
  agent().source.list({pod});
  (void)agent().await_running("a", 0);
  ASSERT_TRUE(test::await_files(work("a"), [this] { return is_there(work("a") / "up"); }));
  pod->metadata.deletion_timestamp = WallTime();
  pod->metadata.deletion_grace_period_seconds = 30;
  agent().source.list({pod});
  auto& calls = agent().sink.calls;
  EXPECT_TRUE(agent().run_until([&calls] { return !calls.empty() && calls.back() == "delete a"; }));
  EXPECT_EQ(agent().sink.statuses.at("a").phase, "Succeeded");
  agent().source.list({});
  EXPECT_TRUE(agent().run_until([this] { return !is_there(dir() / "pods/uid-a"); }));
}

TEST_F(ProcessPods, WhoIgnoresTermIsKilledWithAllItsProcesses) {
  agent().source.list(
      {script_pod("a", "trap '' TERM; sleep 1000 & touch up; while :; do sleep 9; done", 1)});
  (void)agent().await_running("a", 0);
  ASSERT_TRUE(test::await_files(work("a"), [this] { return is_there(work("a") / "up"); }));
  const auto leader = process("a", 0);
  agent().source.list({});
  EXPECT_TRUE(agent().run_until([this] { return !is_there(dir() / "pods/uid-a"); }));
  EXPECT_FALSE(proc::is_alive(leader));
  EXPECT_EQ(::kill(-leader.pid, 0), -1) << "a process of its group still runs";
}

TEST_F(ProcessPods, APodThatCannotStartSaysWhyAndBacksOff) {
  auto pod = script_pod("a", "");
  pod->spec.containers[0].command = {"no-such-program"};
  agent().source.list({pod});
  const auto status = agent().await_waiting("a", "CrashLoopBackOff");
  ASSERT_TRUE(status.last_state.terminated);
  EXPECT_EQ(status.last_state.terminated->reason, "StartError");
  EXPECT_EQ(status.last_state.terminated->message,
            "start no-such-program: No such file or directory");
}

TEST_F(ProcessPods, AMissingConfigMapIsWaitedFor) {
  auto pod = script_pod("a", "exec sleep $(N)");
  sync::EnvFrom from;
  from.config_map_ref = sync::KeyReference{"settings", "", {}, {}};
  pod->spec.containers[0].env_from = {from};
  agent().source.list({pod});
  const auto status = agent().await_waiting("a", "CreateContainerConfigError");
  ASSERT_TRUE(status.state.waiting);
  EXPECT_EQ(status.state.waiting->message, "configmap \"settings\" not found");
  agent().source.set_config_map("settings", {{"N", "1000"}});
  (void)agent().await_running("a", 0);
}

TEST_F(ProcessPods, ASuccessorAdoptsWhatRuns) {
  agent().source.list({script_pod("a", "exec sleep 1000")});
  (void)agent().await_running("a", 0);
  const auto before = process("a", 0);
  stop_agent();
  EXPECT_TRUE(proc::is_alive(before));
  // It has not received a list yet: it stops nothing and knows what runs.
  const auto status = agent().await_running("a", 0);
  EXPECT_EQ(status.container_id, "process://uid-a/c/0");
  EXPECT_EQ(process("a", 0), before);
  EXPECT_TRUE(proc::is_alive(before));
}

TEST_F(ProcessPods, ASuccessorLearnsHowItEndedMeanwhileAndRestartsIt) {
  agent().source.list({script_pod("a", "exec sleep 1000")});
  (void)agent().await_running("a", 0);
  const auto before = process("a", 0);
  stop_agent();
  test::kill_now(before);
  ASSERT_TRUE(
      test::await_files(attempt("a", 0), [this] { return is_there(attempt("a", 0) / exit_file); }));
  const auto status = agent().await_running("a", 1);
  ASSERT_TRUE(status.last_state.terminated);
  EXPECT_EQ(status.last_state.terminated->exit_code, 128 + SIGKILL);
}

TEST_F(ProcessPods, WhenTheShimIsKilledTheContainerIsKept) {
  agent().source.list({script_pod("a", "touch up; exec sleep 1000")});
  (void)agent().await_running("a", 0);
  ASSERT_TRUE(test::await_files(work("a"), [this] { return is_there(work("a") / "up"); }));
  const RunRecord run = read_run(attempt("a", 0)).value();
  ASSERT_TRUE(proc::signal_process(run.shim, SIGKILL));
  ASSERT_TRUE(test::await_end(run.shim));
  agent().run_ready();
  EXPECT_TRUE(proc::is_alive(run.process));
  stop_agent();
  (void)agent().await_running("a", 0);
  test::kill_now(run.process);
  const auto status = agent().await_running("a", 1);
  ASSERT_TRUE(status.last_state.terminated);
  EXPECT_EQ(status.last_state.terminated->reason, "ContainerStatusUnknown");
}

TEST_F(ProcessPods, WhatCannotBeWrittenDownIsNotStarted) {
  (void)agent();
  const holdfast::test::FullDisk full(0);
  agent().source.list({script_pod("a", "exec sleep 1000")});
  const auto status = agent().await_waiting("a", "CrashLoopBackOff");
  EXPECT_FALSE(is_there(dir() / "pods/uid-a/c"));
  ASSERT_TRUE(status.last_state.terminated);
  EXPECT_EQ(status.last_state.terminated->reason, "StartError");
}

TEST_F(ProcessPods, CancellingItIsNoEndWithoutStop) {
  agent().source.list({script_pod("a", "exec sleep 1000")});
  (void)agent().await_running("a", 0);
  agent().cancel();
  agent().run_ready();
  test::kill_now(process("a", 0));
  (void)agent().await_running("a", 1);
}

TEST_F(ProcessPods, TwoAgentsCannotShareAState) {
  (void)agent();
  const auto second = StateDir::open(dir());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::conflict);
}

TEST_F(ProcessPods, AShimThatNeverStartsAnythingIsABackOffAndNotALoop) {
  const holdfast::test::ScratchDir scratch;
  RuntimeHarness agent(scratch.path() / "state", {"/bin/false"});
  agent.source.list({script_pod("a", "exec sleep 1000")});
  const auto status = agent.await_waiting("a", "CrashLoopBackOff");
  ASSERT_TRUE(status.last_state.terminated);
  EXPECT_EQ(status.last_state.terminated->reason, "StartError");
  EXPECT_EQ(status.last_state.terminated->message, "nobody was left to start it");
  EXPECT_TRUE(agent.run_until([&agent] { return agent.sink.events.size() == 2; }));
  EXPECT_EQ(agent.sink.events.front(), "a Failed Error: container c: nobody was left to start it");
  EXPECT_TRUE(agent.sink.events.back().starts_with("a BackOff Back-off 10s restarting failed"));
  const auto attempts = fs::list_dir(scratch.path() / "state/pods/uid-a/c");
  ASSERT_TRUE(attempts);
  EXPECT_TRUE(std::find(attempts->begin(), attempts->end(), "2") != attempts->end());
  EXPECT_TRUE(std::find(attempts->begin(), attempts->end(), "3") == attempts->end());
}

TEST_F(ProcessPods, ARelativeDirectoryIsRefused) {
  const auto opened = StateDir::open("state");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::invalid);
}

TEST_F(ProcessPods, ReportsAreOfferedAgainWhileTheSinkIsAway) {
  agent().sink.failures = {{Errc::unavailable, "offline", {}}};
  agent().source.list({script_pod("a", "exec sleep 1000")});
  (void)agent().await_running("a", 0);
  EXPECT_EQ(agent().sink.calls.front(), "refused status a");
}

}  // namespace
}  // namespace holdfast::agent::node
