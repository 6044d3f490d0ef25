#include "agent/edge/runtime/status_sender.h"

#include <algorithm>

#include "platform/log.h"

namespace holdfast::agent {
namespace {

bool can_retry(Errc code) {
  return code == Errc::timeout || code == Errc::unavailable || code == Errc::exhausted;
}

void log_drop(const char* what, const sync::PodKey& pod, const Error& error) {
  // The pod was deleted or replaced meanwhile: that is the usual end of a report.
  if (error.code == Errc::not_found || error.code == Errc::conflict) return;
  log_warn(what, {{"pod", pod.namespace_name + "/" + pod.name}, {"error", error}});
}

}  // namespace

StatusSender::StatusSender(asio::any_io_executor executor, StatusSink& sink, const Clock& clock,
                           const SenderConfig& config)
    : sink_(sink), clock_(clock), config_(config), changed_(std::move(executor)) {}

StatusSender::Item& StatusSender::item_for(const sync::PodKey& pod) {
  for (Item& item : queue_) {
    if (item.pod == pod) return item;
  }
  queue_.push_back({pod, {}, false});
  changed_.notify_all();
  return queue_.back();
}

void StatusSender::report(const sync::PodKey& pod, std::string patch) {
  item_for(pod).patch = std::move(patch);
}

void StatusSender::final_delete(const sync::PodKey& pod) { item_for(pod).remove = true; }

void StatusSender::forget(const std::string& uid) {
  std::erase_if(queue_, [&uid](const Item& item) { return item.pod.uid == uid; });
}

asio::awaitable<bool> StatusSender::send_first() {
  Item item = queue_.front();
  queue_.pop_front();
  Status sent;
  if (item.patch) {
    sent = co_await sink_.report_status(item.pod, *item.patch);
    if (!sent && !can_retry(sent.error().code)) log_drop("drop pod status", item.pod, sent.error());
  } else {
    sent = co_await sink_.final_delete(item.pod);
    if (!sent && !can_retry(sent.error().code)) log_drop("drop pod delete", item.pod, sent.error());
  }
  const bool settled = sent || !can_retry(sent.error().code);
  if (settled && item.patch) {
    item.patch.reset();
  } else if (settled) {
    item.remove = false;
  }
  if (!item.patch && !item.remove) co_return settled;
  // What came in while we were sending is newer.
  Item& later = item_for(item.pod);
  if (!later.patch) later.patch = std::move(item.patch);
  later.remove = later.remove || item.remove;
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
    co_await loop::sleep_until(clock_.mono() + delay);
    delay = std::min(2 * delay, config_.retry_max);
  }
}

}  // namespace holdfast::agent
