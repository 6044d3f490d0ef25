#include "agent/node/process/process_watcher.h"

#include <fcntl.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "platform/log.h"
#include "platform/loop/cancellation.h"
#include "platform/loop/timer.h"

namespace holdfast::agent::node {

ProcessWatcher::ProcessWatcher(asio::any_io_executor executor, Duration poll,
                               std::function<void()> wake)
    : executor_(executor), poll_(poll), wake_(std::move(wake)), tasks_(executor) {
  auto dirs = fs::DirWatch::create();
  if (!dirs) {
    log_warn("poll for container starts", {{"error", dirs.error()}});
    return;
  }
  dirs_ = *std::move(dirs);
  tasks_.spawn("await container starts", await_files());
}

void ProcessWatcher::update(const ProcessTable& table, MonoTime now) {
  polled_.clear();
  const std::set<ProcessName> gone_before = std::exchange(gone_, {});
  for (const Watch& watch : table.watched()) await_process(watch, gone_before);
  await_beginnings(table);
  if (polled_.empty()) {
    poll_at_ = MonoTime::max();
  } else if (poll_at_ == MonoTime::max() || poll_at_ <= now) {
    poll_at_ = now + poll_;
  }
  if (!due_.empty()) wake_();
}

void ProcessWatcher::await_process(const Watch& watch, const std::set<ProcessName>& gone_before) {
  const ProcessName name{watch.process.pid, watch.process.start_ticks};
  if (awaited_.contains(name)) return;
  auto pidfd = proc::open_pidfd(watch.process);
  if (pidfd) {
    awaited_.insert(name);
    tasks_.spawn("await process", await_end(watch, *std::move(pidfd)));
    return;
  }
  // The process has ended since its attempt was updated. If that was so in the last update() too,
  // the attempt is only polled: its end cannot be recorded yet.
  const bool is_gone = pidfd.error().code == Errc::not_found;
  if (is_gone) gone_.insert(name);
  auto& keys = is_gone && !gone_before.contains(name) ? due_ : polled_;
  keys.insert(watch.attempt);
}

void ProcessWatcher::await_beginnings(const ProcessTable& table) {
  std::map<AttemptKey, fs::Path> beginning;
  for (const AttemptKey& key : table.beginning()) beginning.emplace(key, table.dir(key));
  for (const auto& [key, dir] : beginning_) {
    if (dirs_ && !beginning.contains(key)) dirs_->remove(dir);
  }
  for (const auto& [key, dir] : beginning) {
    const bool is_told = dirs_ && dirs_->add(dir).has_value();
    // The shim of an earlier run may die without a trace, and its end cannot be waited for.
    if (!is_told || !table.has_shim(key)) polled_.insert(key);
    // The file may have appeared before the watch was added: check once.
    if (!beginning_.contains(key)) due_.insert(key);
  }
  beginning_ = std::move(beginning);
}

asio::awaitable<void> ProcessWatcher::await_end(Watch watch, Descriptor pidfd) {
  asio::posix::stream_descriptor waiting(executor_, pidfd.release());
  boost::system::error_code ec;
  co_await waiting.async_wait(asio::posix::stream_descriptor::wait_read, loop::into(ec));
  loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
  awaited_.erase({watch.process.pid, watch.process.start_ticks});
  due_.insert(watch.attempt);
  wake_();
}

asio::awaitable<void> ProcessWatcher::await_files() {
  // Asio closes the descriptor that it waits on, so it gets a duplicate.
  asio::posix::stream_descriptor waiting(executor_,
                                         ::fcntl(dirs_->descriptor(), F_DUPFD_CLOEXEC, 0));
  boost::system::error_code ec;
  while (!ec) {
    co_await waiting.async_wait(asio::posix::stream_descriptor::wait_read, loop::into(ec));
    loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
    dirs_->drain();
    for (const auto& [key, dir] : beginning_) due_.insert(key);
    wake_();
  }
}

std::set<AttemptKey> ProcessWatcher::take_due(MonoTime now) {
  if (now >= deadline()) due_.insert(polled_.begin(), polled_.end());
  return std::exchange(due_, {});
}

asio::awaitable<void> ProcessWatcher::stop() {
  tasks_.cancel();
  co_await tasks_.join();
}

}  // namespace holdfast::agent::node
