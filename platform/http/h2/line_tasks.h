// Tasks that client and server both run for an HTTP/2 connection, besides reading. They share the
// owner's core, which has `line`, `attention` and look_after(now), and end with the line.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "platform/http/h2/line.h"
#include "platform/loop/timer.h"

namespace holdfast::http::h2 {

template <class Core>
boost::asio::awaitable<void> write_all(std::shared_ptr<Core> core) {
  co_await core->line.write_all();
}

template <class Core>
boost::asio::awaitable<void> look_after(std::shared_ptr<Core> core) {
  while (!core->line.over()) {
    const MonoTime next = core->look_after(core->line.clock().mono());
    if (!core->line.over()) (void)co_await core->attention.wait_until(next);
  }
}

}  // namespace holdfast::http::h2
