// Exec credential plug-ins as real processes: what they get, what is read of them, and that none of
// their processes outlives its limits.

#include "agent/client/plugin_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "platform/fs/file.h"
#include "platform/loop/timer.h"
#include "platform/proc/identity.h"
#include "platform/text.h"
#include "test/support/captured_log.h"
#include "test/support/real_time.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

class PluginProcessTest : public testing::Test {
 protected:
  // A plug-in that is a script without a shell between it and us.
  ExecConfig script(const std::string& body) {
    const std::string file = scratch.path() / "plug-in";
    std::ofstream(file) << "#!/bin/sh\n" << body << '\n';
    EXPECT_EQ(::chmod(file.c_str(), 0700), 0);
    return {.api_version = "v1", .command = file, .info = "{info}"};
  }
  // The output, or the error.
  std::string run(ExecConfig config, Duration limit = 60s, PluginLimits limits = {}) {
    std::string text;
    test::run_in_real_time([&](asio::io_context& context) -> asio::awaitable<void> {
      const Clock& clock = loop::clock_of(context.get_executor());
      const auto output = co_await run_plugin(config, limits, clock.mono() + limit);
      text = output ? *output
                    : std::string(to_string(output.error().code)) + ": " + output.error().what;
    });
    return text;
  }
  // Waits until the process whose pid is in the file has ended. False if it has not after 10 s.
  [[nodiscard]] bool ends(const std::string& file) const {
    const auto pid = parse_int<pid_t>(trim(fs::read_all(scratch.path() / file, 100).value()));
    const auto identity = proc::identify(*pid);
    if (!identity) return true;
    const auto process = proc::open_pidfd(*identity);
    if (!process) return process.error().code == Errc::not_found;
    return proc::wait_for_end(*process, 10s);
  }

  const test::ScratchDir scratch;
};

TEST_F(PluginProcessTest, GetsItsArgumentsAndVariables) {
  ExecConfig config = script(R"(cat; echo "$#|$1|$2|$A|$HOME|$KUBERNETES_EXEC_INFO"; pwd)");
  config.args = {"$(id) `id`; *", ""};
  config.env = {"A=1", "A=two words", "KUBERNETES_EXEC_INFO=forged", "HOME=/elsewhere"};
  EXPECT_EQ(run(config), "2|$(id) `id`; *||two words|/elsewhere|{info}\n/\n");
  ExecConfig in_path{.command = "echo", .args = {"found in the PATH"}};
  EXPECT_EQ(run(in_path), "found in the PATH\n");
}

TEST_F(PluginProcessTest, FailuresAreNamed) {
  ExecConfig missing{.command = "no-such-plug-in", .install_hint = "get\x1b it"};
  EXPECT_EQ(run(missing),
            "not_found: start no-such-plug-in: No such file or directory; get\\x1b it");
  test::CapturedLog captured;
  EXPECT_EQ(run(script("echo secret; echo why >&2; exit 3")), "unavailable: exit code 3");
  const std::string log = captured.take();
  EXPECT_NE(log.find("why"), std::string::npos) << log;
  EXPECT_EQ(log.find("secret"), std::string::npos) << log;
  EXPECT_EQ(run(script("kill -9 $$")), "unavailable: ended by signal 9");
  EXPECT_EQ(run(script("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done")),
            "exhausted: killed: it printed too much");
  EXPECT_EQ(run(script("i=0; while [ $i -lt 20000 ]; do echo xxxxxxxxxxxx >&2; i=$((i+1)); done; "
                       "echo done")),
            "done\n")
      << "its standard error never blocks it";
}

TEST_F(PluginProcessTest, NoMoreThanTwentyLinesOfItsErrorsAreLogged) {
  test::CapturedLog captured;
  EXPECT_EQ(run(script("i=0; while [ $i -lt 100 ]; do echo \"line $i\" >&2; i=$((i+1)); done; "
                       "exit 1")),
            "unavailable: exit code 1");
  const std::string log = captured.take();
  std::size_t lines = 0;
  for (std::size_t at = log.find("line "); at != std::string::npos;
       at = log.find("line ", at + 1)) {
    ++lines;
  }
  EXPECT_EQ(lines, 20U) << log;
}

TEST_F(PluginProcessTest, NothingOfItOutlivesItsEnd) {
  const std::string dir = scratch.path();
  EXPECT_EQ(
      run(script("echo $$ >" + dir + "/leader; sleep 1000 & echo $! >" + dir + "/child; wait"), 1s),
      "timeout: killed at its time limit");
  EXPECT_TRUE(ends("leader"));
  EXPECT_TRUE(ends("child"));
  EXPECT_EQ(run(script("sleep 1000 & echo $! >" + dir + "/rest; echo token")), "token\n");
  EXPECT_TRUE(ends("rest")) << "it held the output open";
}

}  // namespace
}  // namespace holdfast::agent
