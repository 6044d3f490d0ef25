#include "test/system/agent/node/processes.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "agent/node/process/launch_wire.h"
#include "platform/fs/dir_watch.h"

namespace holdfast::agent::node::test {
namespace {

using namespace std::chrono_literals;

constexpr Duration patience = 30s;

}  // namespace

std::string test_program() { return std::string(HOLDFAST_BIN_DIR) + "/runtime_test_program"; }

bool await_files(const fs::Path& dir, const std::function<bool()>& is_true) {
  auto watch = fs::DirWatch::create();
  if (!watch || !watch->add(dir)) return false;
  const SystemClock clock;
  const MonoTime last = clock.mono() + patience;
  const Descriptor waiting(::dup(watch->descriptor()));
  while (!is_true()) {
    // wait_for_end() accepts any descriptor that becomes readable, not only a pidfd.
    if (!proc::wait_for_end(waiting, last - clock.mono())) return is_true();
    watch->drain();
  }
  return true;
}

bool await_end(const proc::ProcessIdentity& process) {
  const auto pidfd = proc::open_pidfd(process);
  if (!pidfd) return pidfd.error().code == Errc::not_found;
  return proc::wait_for_end(*pidfd, patience);
}

void kill_now(const proc::ProcessIdentity& process) {
  (void)proc::signal_group(process, SIGKILL).has_value();
  (void)proc::signal_process(process, SIGKILL).has_value();
}

Attempts::~Attempts() {
  for (const fs::Path& dir : dirs_) {
    if (const auto run = read_run(dir)) kill_now(run->process);
  }
  for (const proc::ProcessIdentity& shim : shims_) {
    kill_now(shim);
    EXPECT_TRUE(await_end(shim));
    (void)proc::reap(shim.pid);
  }
}

fs::Path Attempts::make(const std::string& name) {
  const fs::Path dir = root() / name;
  EXPECT_TRUE(fs::ensure_dir(dir));
  EXPECT_TRUE(fs::atomic_write(dir / attempt_file, to_json(AttemptRecord{})));
  dirs_.push_back(dir);
  return dir;
}

proc::ProcessIdentity Attempts::start_shim(const fs::Path& dir,
                                           const std::vector<std::string>& argv) {
  const sync::runtime::LaunchPlan plan{argv, {"PATH=/usr/bin:/bin", "NAME=value"}, ""};
  const auto shim = proc::spawn({.argv = {test_program(), "shim", dir.string(), root().string()},
                                 .input = encode_launch(plan)});
  EXPECT_TRUE(shim) << shim.error().what;
  shims_.push_back(shim.value());
  return shims_.back();
}

proc::ProcessIdentity Attempts::start_shim(const fs::Path& dir, const std::string& script) {
  return start_shim(dir, std::vector<std::string>{"sh", "-c", script});
}

RunRecord await_run(const fs::Path& dir) {
  EXPECT_TRUE(await_files(dir, [&dir] { return read_run(dir).has_value(); }));
  return read_run(dir).value();
}

sync::runtime::ContainerExit await_exit(const fs::Path& dir) {
  EXPECT_TRUE(await_files(dir, [&dir] { return read_exit(dir).has_value(); }));
  return read_exit(dir).value().exit;
}

}  // namespace holdfast::agent::node::test
