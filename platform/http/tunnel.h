// Joins two connections into one: what arrives on either is sent on the other.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "platform/net/connection.h"

namespace holdfast::http {

namespace asio = boost::asio;

struct TunnelLimits {
  // Once one side has said its last, the other one is cut off when it says nothing for so long.
  Duration half_closed = std::chrono::minutes(10);
};

// Each side is read only as fast as the other one takes it, and the end of one is told to the
// other. Returns once both directions have ended or one of them broke; closes both connections.
asio::awaitable<void> pump_both_ways(std::shared_ptr<net::Connection> left,
                                     std::shared_ptr<net::Connection> right,
                                     TunnelLimits limits = {});

// `connection`, but reading gives `bytes` first: what arrived together with the answer's head.
[[nodiscard]] std::shared_ptr<net::Connection> with_bytes_before(
    std::shared_ptr<net::Connection> connection, std::string bytes);

}  // namespace holdfast::http
