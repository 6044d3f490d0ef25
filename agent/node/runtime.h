// Runs containers for the pod workers. The implementation today is process/process_runtime.h, which
// runs them as plain processes; a test has a fake one.
//
// A runtime decides nothing: sync/runtime says which container is started, signalled or removed,
// and reads from observed() what became of it. Containers outlive this program.
//
// Threading: the loop's thread only. Nothing here waits; start() may take some milliseconds.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "platform/result.h"
#include "platform/time.h"
#include "sync/runtime/actions.h"
#include "sync/runtime/attempt.h"

namespace holdfast::agent::node {

namespace asio = boost::asio;

class Runtime {
 public:
  virtual ~Runtime() = default;

  // What a Node reports as its container runtime: "process://0.1.0".
  [[nodiscard]] virtual std::string version() const = 0;

  // Finds the containers that an earlier run of this program has left. Called once, before all
  // other calls.
  virtual void adopt() = 0;

  // Starts a new attempt. Never fails: a start that could not be carried out is observed as an
  // attempt that has ended with ContainerExit::Kind::failed.
  virtual void start(const sync::StartContainer& start) = 0;
  // Records the same outcome for a start that the caller gave up before it began.
  virtual void reject_start(const sync::StartContainer& start, std::string why) = 0;
  // Errors: not_found when the attempt does not run; the system's.
  [[nodiscard]] virtual Status signal(const sync::SignalContainer& signal) = 0;
  // Forgets a pod of which nothing runs. Its folder, logs included, is the caller's to remove.
  virtual void forget(const std::string& uid) = 0;

  // All attempts as of the last refresh() or start(). Borrowed until the next call that changes
  // something.
  [[nodiscard]] virtual const sync::ObservedPods& observed() const = 0;

  // Looks again at the attempts that something happened to.
  virtual void refresh(MonoTime now) = 0;
  // Does periodic work, such as cutting logs, and makes sure that every change from here on is
  // announced. To be called after refresh() and the actions that followed from it.
  virtual void maintain(MonoTime now) = 0;
  // When to call refresh() at the latest if no change is announced; MonoTime::max() for never.
  [[nodiscard]] virtual MonoTime deadline() const = 0;
  // `wake` is called whenever refresh() has something to do. Set once, before adopt().
  virtual void on_change(std::function<void()> wake) = 0;

  // Ends what waits for changes. The containers run on.
  virtual asio::awaitable<void> stop() = 0;
};

}  // namespace holdfast::agent::node
