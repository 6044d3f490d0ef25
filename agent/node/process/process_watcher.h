// Waits for the end of processes (pidfd) and for changes of directories (inotify), and tells the
// runtime which attempts to update.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <set>

#include "agent/node/process/process_table.h"
#include "platform/fs/dir_watch.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent::node {

namespace asio = boost::asio;

class ProcessWatcher {
 public:
  // `wake` is called when take_due() has something new. Where the kernel cannot announce changes
  // (before 5.3, or beyond its limits), attempts are due every `poll`.
  ProcessWatcher(asio::any_io_executor executor, Duration poll, std::function<void()> wake);

  // Starts to wait for every attempt in the table that may change.
  void update(const ProcessTable& table, MonoTime now);

  // The attempts that may have changed since the last call.
  [[nodiscard]] std::set<AttemptKey> take_due(MonoTime now);

  // The latest time to call take_due(); MonoTime::max() if every change is announced.
  [[nodiscard]] MonoTime deadline() const { return polled_.empty() ? MonoTime::max() : poll_at_; }

  asio::awaitable<void> stop();

 private:
  using ProcessName = std::pair<pid_t, std::uint64_t>;  // pid and start time

  void await_process(const Watch& watch, const std::set<ProcessName>& gone_before);
  void await_beginnings(const ProcessTable& table);
  asio::awaitable<void> await_end(Watch watch, Descriptor pidfd);
  asio::awaitable<void> await_files();

  asio::any_io_executor executor_;
  Duration poll_;
  std::function<void()> wake_;
  std::optional<fs::DirWatch> dirs_;
  std::map<AttemptKey, fs::Path> beginning_;
  std::set<ProcessName> awaited_;
  std::set<ProcessName> gone_;  // had ended already at the last update()
  std::set<AttemptKey> due_;
  std::set<AttemptKey> polled_;
  MonoTime poll_at_ = MonoTime::max();
  loop::Tasks tasks_;
};

}  // namespace holdfast::agent::node
