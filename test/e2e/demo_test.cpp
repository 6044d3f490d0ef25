// Runs `holdfast-lab demo` as a user would and checks its output and its report.

#include <sys/wait.h>

#include "test/e2e/processes.h"
#include "test/e2e/run_program.h"
#include "test/support/scratch_dir.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

using test::Ended;
using test::run_program;

std::size_t count_in(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Demo, HoldsItsPromisesAndShowsThem) {
  const test::ScratchDir scratch;
  const auto report = scratch.path() / "report" / "demo.html";
  const std::string bin = HOLDFAST_BIN_DIR;
  const Ended demo = run_program({bin + "/holdfast-lab", "demo", "--report", report.string()},
                                 scratch.path() / "demo.log", 150s);
  ASSERT_TRUE(demo.in_time) << demo.output;
  ASSERT_EQ(demo.exit, proc::ExitStatus()) << demo.output;
  EXPECT_EQ(count_in(demo.output, "'s agent uses "), 3U) << demo.output;

  std::vector<std::string> browser = test::chromium_command(scratch.path() / "chromium");
  browser.insert(browser.end(),
                 {"--virtual-time-budget=2000", "--dump-dom", "file://" + report.string()});
  const Ended shown = run_program(std::move(browser), scratch.path() / "chromium.log", 40s);
  ASSERT_TRUE(shown.in_time) << shown.output;
  ASSERT_EQ(shown.exit, proc::ExitStatus()) << shown.output;
  for (const char* wanted : {"<svg", ">edge-a<", ">edge-b<", ">edge-c<", "promises held"}) {
    EXPECT_NE(shown.output.find(wanted), std::string::npos) << wanted;
  }
  EXPECT_EQ(shown.output.find("CONSOLE"), std::string::npos) << shown.output;
  EXPECT_EQ(shown.output.find(">FAIL<"), std::string::npos);
}

// The exit code is 0 only if every invariant held.
TEST(Demo, EndsWithOneIfAPromiseIsBroken) {
  const test::ScratchDir scratch;
  const std::string log = scratch.path() / "demo.log";
  const auto report = scratch.path() / "demo.html";
  const auto output = [&log] { return fs::read_all(log, 16UL << 20).value_or(""); };
  test::Process demo({"holdfast-lab", "demo", "--report=" + report.string(),
                      "--data=" + (scratch.path() / "data").string()},
                     log);
  ASSERT_TRUE(test::eventually(60s, [&output] { return count_in(output(), "three agents") > 0; }))
      << output();
  demo.signal(SIGINT);
  const auto status = demo.wait(60s);
  ASSERT_TRUE(status) << output();
  EXPECT_TRUE(WIFEXITED(*status)) << output();
  EXPECT_EQ(WEXITSTATUS(*status), 1) << output();
  for (const char* wanted : {"FAIL  The demo runs to its end: stopped", "A promise was broken."}) {
    EXPECT_EQ(count_in(output(), wanted), 1U) << wanted << "\n" << output();
  }
  const std::string page = fs::read_all(report, 16UL << 20).value_or("");
  EXPECT_GT(count_in(page, ">FAIL<"), 0U) << "the report says so, too";
}

}  // namespace
}  // namespace holdfast
