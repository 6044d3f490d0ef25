// Tasks that client and server both run for an HTTP/2 connection, besides reading. They share the
// owner's core, which has `transport`, `attention` and look_after(now), and end with the transport.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "platform/http/h2/transport.h"
#include "platform/loop/timer.h"

namespace holdfast::http::h2 {

template <class Core>
boost::asio::awaitable<void> write_all(std::shared_ptr<Core> core) {
  co_await core->transport.write_all();
}

template <class Core>
boost::asio::awaitable<void> look_after(std::shared_ptr<Core> core) {
  while (!core->transport.over()) {
    const MonoTime next = core->look_after(core->transport.clock().mono());
    if (!core->transport.over()) (void)co_await core->attention.wait_until(next);
  }
}

}  // namespace holdfast::http::h2
