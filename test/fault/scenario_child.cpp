#include "test/fault/scenario_child.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "platform/check.h"

namespace holdfast::store {
namespace {

constexpr int fine = 0;
constexpr int met_an_error = 1;

// Sends one byte when the file is open and one after each step that has returned.
void acknowledge(int pipe) {
  const char byte = '.';
  CHECK(::write(pipe, &byte, 1) == 1);
}

int tell(const FaultScenarioKind& kind, const std::filesystem::path& file, int pipe) {
  auto scenario = open_scenario(kind, file, "fault");
  if (!scenario) {
    (void)std::fprintf(stderr, "%s\n", scenario.error().what.c_str());
    return met_an_error;
  }
  acknowledge(pipe);
  for (std::size_t number = 0; number < scenario_steps; ++number) {
    if (auto done = (*scenario)->step(number); !done) {
      (void)std::fprintf(stderr, "%s\n", done.error().what.c_str());
      return met_an_error;
    }
    acknowledge(pipe);
  }
  return fine;
}

std::size_t count_bytes(int pipe) {
  std::size_t count = 0;
  std::array<char, 256> buffer{};
  for (;;) {
    const ssize_t got = ::read(pipe, buffer.data(), buffer.size());
    if (got <= 0) return count;
    count += static_cast<std::size_t>(got);
  }
}

}  // namespace

ScenarioResult run_in_child(const FaultScenarioKind& kind, const std::filesystem::path& file,
                            const test::FaultPlan& plan) {
  std::array<int, 2> pipe{};
  CHECK(::pipe(pipe.data()) == 0);
  const pid_t child = ::fork();
  CHECK(child >= 0);
  if (child == 0) {
    (void)::close(pipe[0]);
    test::follow(plan);
    ::_exit(tell(kind, file, pipe[1]));
  }
  (void)::close(pipe[1]);
  const std::size_t acknowledged = count_bytes(pipe[0]);
  (void)::close(pipe[0]);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  EXPECT_TRUE(killed || (WIFEXITED(status) && WEXITSTATUS(status) == fine)) << status;
  return {.killed = killed,
          .opened = acknowledged > 0,
          .steps = acknowledged == 0 ? 0 : acknowledged - 1};
}

}  // namespace holdfast::store
