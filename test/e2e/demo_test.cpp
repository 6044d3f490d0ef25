// Runs `holdfast-lab demo` as a user would and checks its output and its report.

#include "test/e2e/run_program.h"
#include "test/support/scratch_dir.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

using test::Ended;
using test::run_program;

TEST(Demo, HoldsItsPromisesAndShowsThem) {
  const test::ScratchDir scratch;
  const auto report = scratch.path() / "report" / "demo.html";
  const std::string bin = HOLDFAST_BIN_DIR;
  const Ended demo = run_program({bin + "/holdfast-lab", "demo", "--report", report.string()},
                                 scratch.path() / "demo.log", 150s);
  ASSERT_TRUE(demo.in_time) << demo.output;
  ASSERT_EQ(demo.exit, proc::ExitStatus()) << demo.output;

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

}  // namespace
}  // namespace holdfast
