// Joins two connections into one: what arrives on either is sent on the other.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "platform/net/connection.h"

namespace holdfast::http {

namespace asio = boost::asio;

// Returns once both directions have ended or one of them broke; closes both connections.
asio::awaitable<void> pump_both_ways(std::shared_ptr<net::Connection> left,
                                     std::shared_ptr<net::Connection> right);

// `connection`, but reading gives `bytes` first: what arrived together with the answer's head.
[[nodiscard]] std::shared_ptr<net::Connection> with_bytes_before(
    std::shared_ptr<net::Connection> connection, std::string bytes);

}  // namespace holdfast::http
