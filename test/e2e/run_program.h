// Runs a program to its end, as a user would.

#pragma once

#include <chrono>
#include <csignal>
#include <functional>

#include "platform/fs/file.h"
#include "platform/proc/identity.h"
#include "platform/proc/notify.h"
#include "platform/proc/process.h"

namespace holdfast::test {

struct Ended {
  bool in_time = false;
  proc::ExitStatus exit;
  std::string output;  // stdout and stderr
};

// Runs a program to its end, and `meanwhile` beside it. Asks it to stop `limit` after that, and
// kills it if it does not.
inline Ended run_program(
    std::vector<std::string> argv, const std::filesystem::path& log, Duration limit,
    const std::function<void()>& meanwhile = [] {}) {
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
  meanwhile();
  ended.in_time = !pidfd || proc::wait_for_end(*pidfd, limit);
  if (!ended.in_time) {
    (void)proc::signal_process(*started, SIGTERM);
    if (!proc::wait_for_end(*pidfd, std::chrono::seconds(15)))
      (void)proc::signal_group(*started, SIGKILL);
    (void)proc::wait_for_end(*pidfd, std::chrono::seconds(5));
  }
  const auto exit = proc::reap(started->pid);
  if (exit) ended.exit = *exit;
  ended.output = fs::read_all(log, 16UL << 20).value_or("");
  return ended;
}

// How Chromium shows a page: without a window, without a network, with its console in the output.
inline std::vector<std::string> chromium_command(const std::filesystem::path& profile) {
  return {"chromium",
          "--headless",
          "--no-sandbox",
          "--disable-gpu",
          "--disable-quic",
          "--no-first-run",
          "--disable-background-networking",
          "--enable-logging=stderr",
          "--v=0",
          "--user-data-dir=" + profile.string()};
}

}  // namespace holdfast::test
