// Two connections in memory, joined back to back: what is written to one is read from the other.
// For code that answers a tunnel itself.
//
// Threading: the loop's thread only. Each end keeps what it shares with the other one alive.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>

#include "platform/net/connection.h"

namespace holdfast::net {

struct Duplex {
  std::shared_ptr<Connection> near;
  std::shared_ptr<Connection> far;
};

// A writer waits while `capacity` bytes (at least 1) have not been read. After one end was closed
// or destroyed, the other one reads what is left and then the end of the stream; writing to it
// fails with unavailable.
[[nodiscard]] Duplex make_duplex(const asio::any_io_executor& executor, std::size_t capacity);

}  // namespace holdfast::net
