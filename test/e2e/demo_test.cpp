// Runs `holdfast-lab demo` as a user would and checks its output and its report.

#include <chrono>
#include <csignal>

#include "platform/fs/file.h"
#include "platform/proc/identity.h"
#include "platform/proc/notify.h"
#include "platform/proc/process.h"
#include "test/support/scratch_dir.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

struct Ended {
  bool in_time = false;
  proc::ExitStatus exit;
  std::string output;  // stdout and stderr
};

// Runs a program to its end. Asks it to stop at `limit`, and kills it if it does not.
Ended run_program(std::vector<std::string> argv, const std::filesystem::path& log, Duration limit) {
  proc::SpawnPlan plan{.argv = std::move(argv), .log = log};
  for (const char* name : {"PATH", "HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
    const auto value = proc::system_environment(name);
    if (value) plan.env.push_back(std::string(name) + "=" + *value);
  }
  const auto started = proc::spawn(plan);
  Ended ended;
  if (!started) {
    ended.output = started.error().what;
    return ended;
  }
  const auto pidfd = proc::open_pidfd(*started);
  ended.in_time = !pidfd || proc::wait_for_end(*pidfd, limit);
  if (!ended.in_time) {
    (void)proc::signal_process(*started, SIGTERM);
    if (!proc::wait_for_end(*pidfd, 15s)) (void)proc::signal_group(*started, SIGKILL);
    (void)proc::wait_for_end(*pidfd, 5s);
  }
  const auto exit = proc::reap(started->pid);
  if (exit) ended.exit = *exit;
  ended.output = fs::read_all(log, 16UL << 20).value_or("");
  return ended;
}

TEST(Demo, HoldsItsPromisesAndShowsThem) {
  const test::ScratchDir scratch;
  const auto report = scratch.path() / "report" / "demo.html";
  const std::string bin = HOLDFAST_BIN_DIR;
  const Ended demo = run_program({bin + "/holdfast-lab", "demo", "--report", report.string()},
                                 scratch.path() / "demo.log", 150s);
  ASSERT_TRUE(demo.in_time) << demo.output;
  ASSERT_EQ(demo.exit, proc::ExitStatus()) << demo.output;

  const std::string profile = (scratch.path() / "chromium").string();
  const Ended shown =
      run_program({"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
                   "--no-first-run", "--disable-background-networking", "--enable-logging=stderr",
                   "--v=0", "--user-data-dir=" + profile, "--virtual-time-budget=2000",
                   "--dump-dom", "file://" + report.string()},
                  scratch.path() / "chromium.log", 40s);
  ASSERT_TRUE(shown.in_time) << shown.output;
  ASSERT_EQ(shown.exit, proc::ExitStatus()) << shown.output;
  for (const char* wanted : {"<svg", ">edge-a<", ">edge-b<", ">edge-c<", "promises held"}) {
    EXPECT_NE(shown.output.find(wanted), std::string::npos) << wanted;
  }
  EXPECT_EQ(shown.output.find("CONSOLE"), std::string::npos) << shown.output;
  EXPECT_EQ(shown.output.find(">FAIL<"), std::string::npos);
}

}  // namespace
}  // namespace holdfast
