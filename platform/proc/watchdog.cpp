#include "platform/proc/watchdog.h"

#include "platform/log.h"
#include "platform/loop/timer.h"

namespace holdfast::proc {

boost::asio::awaitable<void> feed_watchdog(Notifier notifier) {
  const auto interval = notifier.watchdog_interval();
  if (!interval) co_return;
  for (;;) {
    if (auto told = notifier.watchdog(); !told) {
      log_warn("cannot reach the service manager's watchdog", {{"error", told.error()}});
    }
    co_await loop::wait_for(*interval / 2);
  }
}

}  // namespace holdfast::proc
