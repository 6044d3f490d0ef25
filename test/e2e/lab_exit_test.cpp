// How `holdfast-lab run` ends: its exit code, its temporary folder, and its processes. And that the
// example of README.md gives in `holdfast-lab sim` what README.md shows.

#include <sys/wait.h>

#include "agent/lab/cluster/pod_processes.h"
#include "agent/lab/result/json.h"
#include "platform/text.h"
#include "test/e2e/processes.h"
#include "test/e2e/run_program.h"
#include "test/support/scratch_dir.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

constexpr const char* quiet_scenario = R"(
name: quiet
about: a node that nothing happens to
duration: LENGTH
fleet:
  sites:
  - {name: a}
workloads:
- {deployment: web, replicas: 1}
expect:
- {restarts: 0}
- {evictions: 0}
)";

class LabExit : public testing::Test {
 protected:
  LabExit() {
    std::filesystem::create_directory(path("tmp"));
    write_scenario("quiet.yaml", "1s", "{restarts: 0}");
    write_scenario("unmet.yaml", "1s", "{restarts: 1}");
    write_scenario("long.yaml", "60m", "{restarts: 0}");
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (scratch_.path() / name).string();
  }
  void write_scenario(const std::string& name, const std::string& length,
                      const std::string& expectation) const {
    std::string text = quiet_scenario;
    text.replace(text.find("LENGTH"), 6, length);
    text.replace(text.find("{restarts: 0}"), 13, expectation);
    EXPECT_TRUE(fs::atomic_write(path(name), text));
  }
  // `holdfast-lab run` with a folder of its own for temporary files.
  [[nodiscard]] std::vector<std::string> run_words(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"/usr/bin/env", "TMPDIR=" + path("tmp"),
                                      HOLDFAST_BIN_DIR "/holdfast-lab", "run"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // How many folders there are for data and logs; removes them.
  [[nodiscard]] std::size_t take_temporary() const {
    const auto names = fs::list_dir(path("tmp")).value_or(std::vector<std::string>());
    for (const std::string& name : names) (void)fs::remove_tree(scratch_.path() / "tmp" / name);
    return names.size();
  }

  test::ScratchDir scratch_;
};

TEST_F(LabExit, TheCodeSaysWhyAndOnlyAnErrorKeepsTheTemporaryFolder) {
  const struct {
    std::vector<std::string> arguments;
    int code;
    std::size_t kept;
  } rows[] = {{{path("quiet.yaml")}, 0, 0},
              {{path("unmet.yaml")}, 1, 0},
              {{path("quiet.yaml"), "--data=" + path("data")}, 0, 0},
              {{path("quiet.yaml"), "--api-server=/nonexistent"}, 1, 1},
              {{path("nothing.yaml")}, 1, 0},
              {{}, 2, 0},
              {{"--no-such-flag"}, 2, 0},
              {{path("quiet.yaml"), "--seed=x"}, 2, 0},
              {{path("quiet.yaml"), "--speed=0"}, 2, 0},
              {{path("quiet.yaml"), "--set=duration=soon"}, 2, 0}};
  for (const auto& row : rows) {
    SCOPED_TRACE(join(row.arguments, " "));
    const test::Ended ended =
        test::run_program(run_words(row.arguments), scratch_.path() / "run.log", 90s);
    EXPECT_TRUE(ended.in_time) << ended.output;
    EXPECT_EQ(ended.exit, (proc::ExitStatus{false, row.code})) << ended.output;
    EXPECT_EQ(take_temporary(), row.kept) << ended.output;
  }
  EXPECT_TRUE(std::filesystem::exists(path("data/logs"))) << "a folder of --data is kept";
}

// So that `run -o json > FILE` writes what `report` and `compare` read.
TEST_F(LabExit, ProgressGoesToStandardErrorAndTheResultToStandardOutput) {
  const std::string lab = HOLDFAST_BIN_DIR "/holdfast-lab";
  const struct {
    std::string command;
    std::string result;    // how standard output begins
    std::string progress;  // in standard error
  } rows[] = {
      {"run " + path("quiet.yaml"), "a: 0 restarts\n", "the scenario begins"},
      {"run " + path("quiet.yaml") + " -o json", R"({"kind":"RunResult")", "the scenario begins"},
      {"sim --skip-heartbeats " + path("quiet.yaml"), "a: 0 restarts\n", "renewals skipped"},
      {"sim --skip-heartbeats " + path("quiet.yaml") + " -o json", R"({"kind":"RunResult")",
       "renewals skipped"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.command);
    const std::string command =
        lab + " " + row.command + " >" + path("result") + " 2>" + path("progress");
    const test::Ended ended = test::run_program({"/bin/sh", "-c", command}, path("shell.log"), 90s);
    EXPECT_EQ(ended.exit, proc::ExitStatus());
    EXPECT_EQ(ended.output, "");
    const std::string result = fs::read_all(path("result"), 1UL << 20).value_or("");
    const std::string progress = fs::read_all(path("progress"), 1UL << 20).value_or("");
    EXPECT_TRUE(result.starts_with(row.result)) << result;
    EXPECT_EQ(result.find(row.progress), std::string::npos) << result;
    EXPECT_NE(progress.find(row.progress), std::string::npos) << progress;
    EXPECT_EQ(progress.find(row.result), std::string::npos) << progress;
    if (!row.command.ends_with("json")) continue;
    EXPECT_TRUE(agent::lab::result_from_json(result)) << result;
  }
}

TEST_F(LabExit, CtrlCEndsAllProcesses) {
  test::Process run(run_words({path("long.yaml"), "--data=" + path("data")}), path("run.log"));
  const auto output = [this] { return fs::read_all(path("run.log"), 1UL << 20).value_or(""); };
  const auto containers = [this] {
    return agent::lab::cluster::running_containers(path("data/nodes/a-1/node")).size();
  };
  ASSERT_TRUE(test::eventually(60s, [&output] {
    return output().find("the scenario begins") != std::string::npos;
  })) << output();
  EXPECT_EQ(containers(), 1U);
  EXPECT_GE(test::processes_naming(path("data")).size(), 5U);
  run.signal(SIGINT);
  const auto status = run.wait(60s);
  ASSERT_TRUE(status) << output();
  EXPECT_TRUE(WIFEXITED(*status)) << output();
  EXPECT_EQ(WEXITSTATUS(*status), 1) << output();
  EXPECT_EQ(containers(), 0U);
  EXPECT_EQ(test::processes_naming(path("data")), std::vector<std::string>());
}

TEST(LabSim, PlaysTheExampleOfTheReadmeAsItSays) {
  const test::ScratchDir scratch;
  const auto readme = fs::read_all(HOLDFAST_SOURCE_ROOT "/README.md", 1 << 20);
  ASSERT_TRUE(readme);
  const std::size_t start = readme->find("```yaml\n") + 8;
  const std::string example = readme->substr(start, readme->find("```", start) - start);
  ASSERT_TRUE(fs::atomic_write(scratch.path() / "outage.yaml", example));
  const std::string shop =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\nspec:\n  replicas: 6\n"
      "  selector: {matchLabels: {app: shop}}\n  template:\n    metadata: {labels: {app: shop}}\n"
      "    spec: {containers: [{name: c, image: shop}]}\n";
  ASSERT_TRUE(fs::atomic_write(scratch.path() / "shop.yaml", shop));
  const test::Ended ended = test::run_program(
      {HOLDFAST_BIN_DIR "/holdfast-lab", "sim", (scratch.path() / "outage.yaml").string(),
       "--report=" + (scratch.path() / "outage.html").string()},
      scratch.path() / "sim.log", 60s);
  EXPECT_EQ(ended.exit, proc::ExitStatus()) << ended.output;
  for (const std::string shown :
       {"a: 0 restarts; b: 1 evicted; c: 0 restarts\n",
        "\nWORKLOAD         SITE  WANTED  EVICTED  RESTARTED  UNAVAILABLE\n"
        "deployment/shop  any        6        1          0           0s\n",
        "\nEXPECTATIONS\nmet      restarts of a: 0\n         found: 0 restarts\n"
        "met      evictions of a: 0\n         found: 0 evictions\n"}) {
    EXPECT_NE(ended.output.find(shown), std::string::npos) << shown << ended.output;
    EXPECT_NE(readme->find(shown.substr(shown.front() == '\n' ? 1 : 0)), std::string::npos)
        << "README.md shows:\n"
        << shown;
  }
  EXPECT_TRUE(fs::read_all(scratch.path() / "outage.html", 16UL << 20));
}

}  // namespace
}  // namespace holdfast
