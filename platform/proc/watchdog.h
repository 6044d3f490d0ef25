// Shows the service manager that the loop still turns.

#pragma once

#include <boost/asio/awaitable.hpp>

#include "platform/proc/notify.h"

namespace holdfast::proc {

// Calls watchdog() twice per interval until cancelled; returns at once when nobody watches.
boost::asio::awaitable<void> feed_watchdog(Notifier notifier);

}  // namespace holdfast::proc
