// Tells the service manager's watchdog that the loop is running.

#pragma once

#include <boost/asio/awaitable.hpp>

#include "platform/proc/notify.h"

namespace holdfast::proc {

// Calls watchdog() twice per interval until cancelled; returns at once if the watchdog is off.
boost::asio::awaitable<void> feed_watchdog(Notifier notifier);

}  // namespace holdfast::proc
