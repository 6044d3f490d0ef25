// Real processes for the tests of the runtime: started, awaited without sleeping, and always ended.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/node/process/attempt_files.h"
#include "platform/proc/process.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent::node::test {

// The program that is a shim or an agent, by its first argument.
[[nodiscard]] std::string test_program();

// Waits until `is_true`, looking again whenever a file appears in `dir`. False after 30 s.
[[nodiscard]] bool await_files(const fs::Path& dir, const std::function<bool()>& is_true);

// Waits for the end of a process, ours or not; false after 30 s.
[[nodiscard]] bool await_end(const proc::ProcessIdentity& process);

// A directory for attempts. At its end everything that was started in it is killed.
class Attempts {
 public:
  Attempts() = default;
  ~Attempts();
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;

  // An empty attempt directory.
  [[nodiscard]] fs::Path make(const std::string& name);
  // Starts a shim there for `sh -c script`. It is our child.
  proc::ProcessIdentity start_shim(const fs::Path& dir, const std::string& script);
  proc::ProcessIdentity start_shim(const fs::Path& dir, const std::vector<std::string>& argv);

  [[nodiscard]] const fs::Path& root() const { return scratch_.path(); }

 private:
  holdfast::test::ScratchDir scratch_;
  std::vector<proc::ProcessIdentity> shims_;
  std::vector<fs::Path> dirs_;
};

// What run.json and exit.json say, once they are there. Fails the test otherwise.
[[nodiscard]] RunRecord await_run(const fs::Path& dir);
[[nodiscard]] sync::ContainerExit await_exit(const fs::Path& dir);

// Kills the process and its group at once.
void kill_now(const proc::ProcessIdentity& process);

}  // namespace holdfast::agent::node::test
