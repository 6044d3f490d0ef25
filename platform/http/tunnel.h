// Joins two connections: what arrives on either is sent on the other.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "platform/net/connection.h"

namespace holdfast::http {

namespace asio = boost::asio;

struct TunnelLimits {
  // After one side has ended, the other one is closed when it sends nothing for this long.
  Duration half_closed = std::chrono::minutes(10);
};

// Reads each side only as fast as the other one accepts it, and forwards the end of one side to the
// other. Returns when both directions have ended or one of them failed; closes both connections.
asio::awaitable<void> pump_both_ways(std::shared_ptr<net::Connection> left,
                                     std::shared_ptr<net::Connection> right,
                                     TunnelLimits limits = {});

// `connection`, but reading returns `bytes` first: those that arrived together with a message's
// head.
[[nodiscard]] std::shared_ptr<net::Connection> with_bytes_before(
    std::shared_ptr<net::Connection> connection, std::string bytes);

}  // namespace holdfast::http
