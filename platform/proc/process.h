// Starts programs that run independently of us: they outlive us, unless that is not wanted, and
// share only their log file, or the streams that they were given, with us.
//
// The new process leads its own session and process group. Standard input is a fixed text or
// /dev/null, standard output and error are appended to a log file (or all three are given), all
// signals have their default action, and no other descriptor is inherited. The program is executed
// directly, never by a shell. Calls block briefly; any thread.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "platform/fs/descriptor.h"
#include "platform/proc/identity.h"
#include "platform/result.h"

namespace holdfast::proc {

// Open descriptors that become standard input, output and error. They are borrowed until prepare()
// returns.
struct StandardStreams {
  int input = -1;
  int output = -1;
  int error = -1;
  bool is_terminal = false;  // `input` is one, and becomes the controlling terminal
};

struct SpawnPlan {
  std::vector<std::string> argv;  // argv[0] is looked up in the PATH of `env` unless it has a '/'
  std::vector<std::string> env = {};  // "NAME=value": the whole environment
  std::filesystem::path working_directory = "/";
  std::string input = {};                       // its standard input; not visible to other users
  std::filesystem::path log = "/dev/null";      // created with mode 0600, appended to
  std::optional<StandardStreams> streams = {};  // in place of `input` and `log`
  // It is killed when the thread that starts it ends, also if that one crashes.
  bool ends_with_parent = false;
};

// A new process whose identity is known but which waits before it executes the program. Between
// prepare() and release() the caller can store the identity. If the Launch is destroyed without
// release(), or we die, the process ends without having run the program.
class Launch {
 public:
  // Creates the process. Errors: invalid (empty argv, or a NUL inside a string), exhausted (no more
  // processes).
  [[nodiscard]] static Result<Launch> prepare(const SpawnPlan& plan);

  Launch(Launch&&) = default;
  Launch& operator=(Launch&&) = delete;
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch();

  // The child. After a successful release() the caller has to reap it.
  [[nodiscard]] const ProcessIdentity& identity() const { return identity_; }

  // Executes the program. Returns when it is running, or the error that prevented it: not_found,
  // denied, invalid and others, from the working directory, the log or the program. In that case
  // the child has ended and has been reaped.
  [[nodiscard]] Status release();

 private:
  Launch(Descriptor gate, Descriptor report, std::string program)
      : gate_(std::move(gate)), report_(std::move(report)), program_(std::move(program)) {}

  Descriptor gate_;    // one byte lets the child continue
  Descriptor report_;  // receives a Failure, or end of file when the program runs
  std::string program_;
  ProcessIdentity identity_;
};

// Calls prepare() and release(). Returns the identity of the running program. Errors: theirs.
[[nodiscard]] Result<ProcessIdentity> spawn(const SpawnPlan& plan);

}  // namespace holdfast::proc
