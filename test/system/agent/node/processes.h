// Real processes for the tests of the process runtime: waiting for them needs no sleep, and all are
// killed at the end.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/node/process/attempt_files.h"
#include "platform/proc/process.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent::node::test {

// The program that runs as a shim or as an agent, depending on its first argument.
[[nodiscard]] std::string test_program();

// Waits until `is_true` holds; checks whenever a file appears in `dir`. False after 30 s.
[[nodiscard]] bool await_files(const fs::Path& dir, const std::function<bool()>& is_true);

// Waits for the end of a process, which need not be a child; false after 30 s.
[[nodiscard]] bool await_end(const proc::ProcessIdentity& process);

// A directory for attempts. The destructor kills everything that was started in it.
class Attempts {
 public:
  Attempts() = default;
  ~Attempts();
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;

  // Creates an empty attempt directory.
  [[nodiscard]] fs::Path make(const std::string& name);
  // Starts a shim in `dir` for `sh -c script`, as a child of this process.
  proc::ProcessIdentity start_shim(const fs::Path& dir, const std::string& script);
  proc::ProcessIdentity start_shim(const fs::Path& dir, const std::vector<std::string>& argv);

  [[nodiscard]] const fs::Path& root() const { return scratch_.path(); }

 private:
  holdfast::test::ScratchDir scratch_;
  std::vector<proc::ProcessIdentity> shims_;
  std::vector<fs::Path> dirs_;
};

// The content of run.json and of exit.json, once they exist. Fails the test after a time.
[[nodiscard]] RunRecord await_run(const fs::Path& dir);
[[nodiscard]] sync::runtime::ContainerExit await_exit(const fs::Path& dir);

// Kills the process and its process group.
void kill_now(const proc::ProcessIdentity& process);

}  // namespace holdfast::agent::node::test
