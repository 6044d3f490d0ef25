// Tells when this machine's network has become better: it has a new address or route, or an
// interface has a carrier again.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>

#include "platform/result.h"

namespace holdfast::net {

namespace asio = boost::asio;

class NetworkChanges {
 public:
  // Of the network of the executor's loop. Errors: those of the kernel's.
  [[nodiscard]] static Result<std::unique_ptr<NetworkChanges>> open(
      const asio::any_io_executor& executor);
  virtual ~NetworkChanges() = default;

  // Waits for the next change. Changes that come together, or while nobody waits, count as one.
  // Errors: unavailable; then there is nothing more to wait for.
  virtual asio::awaitable<Status> next() = 0;
};

// Those of the kernel, over rtnetlink(7), in the network namespace of the calling thread. Errors:
// denied, unavailable (the kernel or a sandbox forbids such sockets), exhausted (descriptors).
[[nodiscard]] Result<std::unique_ptr<NetworkChanges>> kernel_network_changes(
    const asio::any_io_executor& executor);

}  // namespace holdfast::net
