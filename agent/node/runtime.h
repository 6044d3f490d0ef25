// Runs containers for the pod workers. process/process_runtime.h implements it with plain
// processes; tests have a fake.
// A runtime decides nothing: sync/runtime decides which container is started, signalled or removed,
// and reads the result from observed(). Containers outlive this program.
//
// Threading: the loop's thread only. Nothing here waits; start() may take some milliseconds.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <optional>
#include <string>

#include "platform/fs/file.h"
#include "platform/proc/identity.h"
#include "platform/result.h"
#include "platform/time.h"
#include "sync/runtime/actions.h"
#include "sync/runtime/attempt.h"

namespace holdfast::agent::node {

namespace asio = boost::asio;

// Where one attempt to run a container has its output, and the process that runs it.
struct ContainerRun {
  fs::Path log;                                       // missing if nothing was written
  fs::Path log_times;                                 // when it was written: process/log_times.h
  std::optional<proc::ProcessIdentity> process = {};  // while it runs
};

class Runtime {
 public:
  virtual ~Runtime() = default;

  // What a Node reports as its container runtime: "process://0.1.0".
  [[nodiscard]] virtual std::string version() const = 0;

  // Finds the containers of an earlier run of this program. Called once, before all other functions
  // but on_change().
  virtual void adopt() = 0;

  // Starts a new attempt to run a container. Never fails: a start that failed appears in observed()
  // as an attempt that has ended with ContainerExit::Kind::failed.
  virtual void start(const sync::runtime::StartContainer& start) = 0;
  // Records the same outcome for a start that the caller could not make.
  virtual void reject_start(const sync::runtime::StartContainer& start, std::string why) = 0;
  // Errors: not_found if the attempt does not run; those of kill().
  [[nodiscard]] virtual Status signal(const sync::runtime::SignalContainer& signal) = 0;
  // Forgets a pod of which nothing runs. The caller removes its directory, logs included.
  virtual void forget(const std::string& uid) = 0;

  // All attempts as of the last refresh() or start(). Valid until the next call of a non-const
  // function.
  [[nodiscard]] virtual const sync::runtime::ObservedPods& observed() const = 0;

  // One attempt of observed(). Nothing if it is not known, or if the runtime keeps no output.
  [[nodiscard]] virtual std::optional<ContainerRun> find(const std::string& uid,
                                                         const std::string& container,
                                                         std::int32_t number) const = 0;

  // Updates observed() for the attempts that may have changed.
  virtual void refresh(MonoTime now) = 0;
  // Does periodic work, such as truncating logs, and ensures that every later change calls the
  // function of on_change(). Call it after refresh() and the actions that follow from it.
  virtual void maintain(MonoTime now) = 0;
  // The latest time for the next refresh() if no change is announced; MonoTime::max() for never.
  [[nodiscard]] virtual MonoTime deadline() const = 0;
  // `wake` is called whenever refresh() has something to do. Set once, before adopt().
  virtual void on_change(std::function<void()> wake) = 0;

  // Stops waiting for changes. The containers keep running.
  virtual asio::awaitable<void> stop() = 0;
};

}  // namespace holdfast::agent::node
