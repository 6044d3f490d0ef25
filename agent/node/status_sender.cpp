#include "agent/node/status_sender.h"

#include <algorithm>

#include "platform/log.h"

namespace holdfast::agent::node {
namespace {

bool can_retry(Errc code) {
  return code == Errc::timeout || code == Errc::unavailable || code == Errc::exhausted;
}

void log_drop(const char* what, const sync::runtime::PodKey& pod, const Error& error) {
  // The pod was deleted or replaced meanwhile, which is normal.
  if (error.code == Errc::not_found || error.code == Errc::conflict) return;
  log_warn(what, {{"pod", pod.namespace_name + "/" + pod.name}, {"error", error}});
}

}  // namespace

StatusSender::StatusSender(asio::any_io_executor executor, StatusSink& sink, const Clock& clock,
                           const SenderConfig& config)
    : sink_(sink), clock_(clock), config_(config), changed_(std::move(executor)) {}

StatusSender::Item& StatusSender::item_for(const sync::runtime::PodKey& pod) {
  for (Item& item : queue_) {
    if (item.pod == pod) return item;
  }
  queue_.push_back({.pod = pod});
  changed_.notify_all();
  return queue_.back();
}

void StatusSender::report(const sync::runtime::PodKey& pod, std::string patch) {
  item_for(pod).patch = std::move(patch);
}

void StatusSender::final_delete(const sync::runtime::PodKey& pod) { item_for(pod).remove = true; }

void StatusSender::forget(const std::string& uid) {
  std::erase_if(queue_, [&uid](const Item& item) { return item.pod.uid == uid; });
}

void StatusSender::event(const sync::runtime::PodKey& pod, sync::Event event) {
  std::vector<sync::Event>& events = item_for(pod).events;
  if (events.size() >= config_.events_max) events.erase(events.begin());
  events.push_back(std::move(event));
}

asio::awaitable<Status> StatusSender::send_step(const Item& item) {
  if (item.patch) co_return co_await sink_.report_status(item.pod, *item.patch);
  if (!item.events.empty()) co_return co_await sink_.record_event(item.events.front());
  co_return co_await sink_.final_delete(item.pod);
}

// Reports queued during the send are newer and win.
void StatusSender::keep(Item rest) {
  if (!rest.patch && rest.events.empty() && !rest.remove) return;
  Item& later = item_for(rest.pod);
  if (!later.patch) later.patch = std::move(rest.patch);
  later.events.insert(later.events.begin(), std::make_move_iterator(rest.events.begin()),
                      std::make_move_iterator(rest.events.end()));
  later.remove = later.remove || rest.remove;
}

asio::awaitable<bool> StatusSender::send_first() {
  Item item = std::move(queue_.front());
  queue_.pop_front();
  const char* what = item.patch            ? "drop pod status"
                     : item.events.empty() ? "drop pod delete"
                                           : "drop pod event";
  const Status sent = co_await send_step(item);
  const bool settled = sent || !can_retry(sent.error().code);
  if (!sent && settled) log_drop(what, item.pod, sent.error());
  if (settled && item.patch) {
    item.patch.reset();
  } else if (settled && !item.events.empty()) {
    item.events.erase(item.events.begin());
  } else if (settled) {
    item.remove = false;
  }
  keep(std::move(item));
  co_return settled;
}

asio::awaitable<void> StatusSender::run() {
  Duration delay = config_.retry_min;
  for (;;) {
    while (queue_.empty()) co_await changed_.wait();
    const bool settled = co_await send_first();
    if (settled) {
      delay = config_.retry_min;
      continue;
    }
    // The pause is for the whole queue: if the API fails for one report, it fails for all.
    co_await loop::sleep_until(clock_.mono() + delay);
    delay = std::min(2 * delay, config_.retry_max);
  }
}

}  // namespace holdfast::agent::node
