// Starts a program that stands on its own: it outlives us, and shares nothing with us but its log.
//
// The new process leads a session and a process group of its own, with standard input from a fixed
// text or /dev/null, standard output and error appended to a log file, every signal at its default,
// and no other descriptor of ours. It is run by its argv, never by a shell.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "platform/fs/descriptor.h"
#include "platform/proc/identity.h"
#include "platform/result.h"

namespace holdfast::proc {

struct SpawnPlan {
  std::vector<std::string> argv;  // argv[0] is looked up in the PATH of `env` unless it has a '/'
  std::vector<std::string> env = {};  // "NAME=value": the whole environment
  std::filesystem::path working_directory = "/";
  std::string input = {};                   // on its standard input; seen by nobody else
  std::filesystem::path log = "/dev/null";  // created with mode 0600, appended to
};

// A process that exists, with its identity known, but waits before it becomes the program. Whoever
// has to write down what it starts does so between prepare() and release(). If the Launch goes away
// unreleased, or we die, the process ends without having run the program.
class Launch {
 public:
  // Errors: invalid for an empty argv or a NUL inside a string, exhausted (no more processes).
  [[nodiscard]] static Result<Launch> prepare(const SpawnPlan& plan);

  Launch(Launch&&) = default;
  Launch& operator=(Launch&&) = delete;
  ~Launch();

  // The child, which the caller reaps.
  [[nodiscard]] const ProcessIdentity& identity() const { return identity_; }

  // Lets it run the program. Returns once that has begun, or with the reason why it could not:
  // not_found, denied, invalid, ... from the working directory, the log or the program. The child
  // has then ended and been reaped.
  [[nodiscard]] Status release();

 private:
  Launch(Descriptor gate, Descriptor report, std::string program)
      : gate_(std::move(gate)), report_(std::move(report)), program_(std::move(program)) {}

  Descriptor gate_;    // one byte opens it
  Descriptor report_;  // what failed; end of file once the program runs
  std::string program_;
  ProcessIdentity identity_;
};

// prepare() and release() in one: the identity of the running program. Errors: as theirs.
[[nodiscard]] Result<ProcessIdentity> spawn(const SpawnPlan& plan);

}  // namespace holdfast::proc
