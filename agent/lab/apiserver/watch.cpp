#include "agent/lab/apiserver/watch.h"

#include <utility>

namespace holdfast::agent::lab {

Watch::Watch(asio::any_io_executor executor, WatchOrder order, const WatchLimits& limits,
             MonoTime now)
    : order_(std::move(order)),
      limits_(limits),
      changed_(std::move(executor)),
      next_bookmark_(now + limits.bookmarks) {}

asio::awaitable<Result<std::string>> Watch::next() {
  while (pending_.empty() && !finished_ && !cancelled_) co_await changed_.wait();
  if (cancelled_) {
    Result<std::string> ended = fail(Errc::cancelled, "watch");
    co_return ended;
  }
  if (overrun_ && pending_.empty()) {
    Result<std::string> broken = fail(Errc::unavailable, "the watcher reads too slowly");
    co_return broken;
  }
  Result<std::string> piece = std::exchange(pending_, {});
  co_return piece;
}

void Watch::cancel() {
  cancelled_ = true;
  changed_.notify_all();
}

void Watch::finish() {
  finished_ = true;
  changed_.notify_all();
}

void Watch::push(std::string line) {
  if (over()) return;
  // What waits is sent, so that a client that continues there gets on. One event always waits.
  if (!pending_.empty() && pending_.size() + line.size() > limits_.pending) {
    overrun_ = true;
    finished_ = true;
  } else {
    pending_ += line;
  }
  changed_.notify_all();
}

void Watch::add_initial(const std::vector<StoredPtr>& objects, WallTime now) {
  for (const StoredPtr& stored : objects) {
    if (!order_.selection.matches(stored)) continue;
    push(render_event(order_.view, "ADDED", *stored, now, !columns_sent_));
    columns_sent_ = true;
  }
}

void Watch::add_bookmark(std::int64_t revision, bool initial_end) {
  push(render_bookmark(order_.view, revision, initial_end));
}

void Watch::add_error(std::string_view status) {
  push("{\"type\":\"ERROR\",\"object\":" + std::string(status) + "}\n");
  finish();
}

void Watch::add(const Change& change, WallTime now) {
  StoredPtr seen;
  const std::string_view type = event_for(order_.selection, change, seen);
  if (type.empty()) return;
  push(render_event(order_.view, type, *seen, now, !columns_sent_));
  columns_sent_ = true;
}

void Watch::tick(MonoTime now, std::int64_t revision) {
  if (over()) return;
  if (now >= order_.ends) {
    finish();
  } else if (order_.bookmarks && now >= next_bookmark_) {
    next_bookmark_ = now + limits_.bookmarks;
    add_bookmark(revision, false);
  }
}

std::shared_ptr<Watch> WatchHub::open(WatchOrder order, MonoTime now) {
  auto watch = std::make_shared<Watch>(executor_, std::move(order), limits_, now);
  watches_.push_back(watch);
  return watch;
}

void WatchHub::publish(const Change& change, WallTime now) {
  for (auto at = watches_.begin(); at != watches_.end();) {
    const std::shared_ptr<Watch> watch = at->lock();
    if (!watch || watch->over()) {
      at = watches_.erase(at);
      continue;
    }
    if (watch->concerns(change.key())) watch->add(change, now);
    ++at;
  }
}

void WatchHub::tick(MonoTime now, std::int64_t revision) {
  for (auto at = watches_.begin(); at != watches_.end();) {
    const std::shared_ptr<Watch> watch = at->lock();
    if (watch) watch->tick(now, revision);
    at = !watch || watch->over() ? watches_.erase(at) : std::next(at);
  }
}

void WatchHub::finish_all() {
  for (const std::weak_ptr<Watch>& open : watches_) {
    if (const auto watch = open.lock()) watch->finish();
  }
  watches_.clear();
}

}  // namespace holdfast::agent::lab
