// The data directory of holdfast-node: the state that must survive the program, by pod, container
// and attempt.
//
//   DIR/lock                       held by the one program that uses the directory
//   DIR/pods/UID/pod.json          the pod as last received, and whether it is being stopped
//   DIR/pods/UID/CONTAINER/N/      attempt N: process/attempt_files.h
//   DIR/pods/UID/CONTAINER/work/   the working directory if the pod's spec names none
// The directory has mode 0700: environments are never written to it, but logs may contain secrets.

#pragma once

#include <string>
#include <vector>

#include "agent/node/process/attempt_files.h"
#include "sync/runtime/actions.h"

namespace holdfast::agent::node {

class StateDir {
 public:
  // Errors: conflict when another program uses it, naming its process; denied; exhausted; invalid
  // when `dir` is not absolute.
  [[nodiscard]] static Result<StateDir> open(const fs::Path& dir);

  // Returns every record that can be read. The others are added to `damaged` and their files stay.
  [[nodiscard]] Result<std::vector<sync::runtime::PodRecord>> load(
      std::vector<Error>& damaged) const;

  // Writes a record, without the pod's managedFields. It is durable when the call returns.
  [[nodiscard]] Status record(const sync::runtime::PodRecord& record) const;
  // Removes the pod's directory with all files; durable.
  [[nodiscard]] Status remove(const std::string& uid) const;

  // The uids of all pods that have a directory, with or without a record; sorted.
  [[nodiscard]] std::vector<std::string> uids() const;

  // The containers of a pod and the numbers of their attempts, ascending. Empty if there are none.
  [[nodiscard]] std::vector<std::string> containers(const std::string& uid) const;
  [[nodiscard]] std::vector<std::int32_t> attempts(const std::string& uid,
                                                   const std::string& container) const;

  // The directory of an attempt, and the default working directory of a container.
  [[nodiscard]] fs::Path attempt(const std::string& uid, const std::string& container,
                                 std::int32_t number) const;
  [[nodiscard]] fs::Path work(const std::string& uid, const std::string& container) const;

  // Creates the attempt's directory with attempt.json, and the working directory; durable. Errors:
  // conflict if the attempt exists.
  [[nodiscard]] Status create_attempt(const std::string& uid, const std::string& container,
                                      std::int32_t number, const AttemptRecord& record) const;

 private:
  StateDir(fs::Path dir, fs::FileLock lock) : dir_(std::move(dir)), lock_(std::move(lock)) {}

  [[nodiscard]] fs::Path pods() const { return dir_ / "pods"; }
  [[nodiscard]] fs::Path pod(const std::string& uid) const { return pods() / uid; }

  fs::Path dir_;
  fs::FileLock lock_;
};

}  // namespace holdfast::agent::node
