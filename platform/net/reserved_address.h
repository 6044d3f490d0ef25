// An address on which listeners come and go, without another program taking its port in between.
//
// After Listener::close() the kernel gives the port to the next program that asks for any free
// port. As long as this object exists, no other socket can bind to the address; while none of its
// listeners is open, connections to it are refused.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <utility>

#include "platform/net/transport.h"

namespace holdfast::net {

class ReservedAddress {
 public:
  // The host of `at` must be an IP address; port 0 selects a free port. Errors: those of
  // Listener::open().
  [[nodiscard]] static Result<ReservedAddress> open(asio::any_io_executor executor,
                                                    const HostPort& at);

  [[nodiscard]] const HostPort& at() const { return at_; }

  // See Listener::open(). Only one listener can be open at a time.
  [[nodiscard]] Result<std::unique_ptr<Listener>> listen(std::shared_ptr<const tls::Context> tls) {
    return holder_->listen(at_, std::move(tls));
  }

  // What a Network does to keep the address until it is destroyed.
  class Holder {
   public:
    virtual ~Holder() = default;
    [[nodiscard]] virtual Result<std::unique_ptr<Listener>> listen(
        const HostPort& at, std::shared_ptr<const tls::Context> tls) = 0;
  };
  // For a Network.
  ReservedAddress(std::unique_ptr<Holder> holder, HostPort at)
      : holder_(std::move(holder)), at_(std::move(at)) {}

 private:
  std::unique_ptr<Holder> holder_;
  HostPort at_;
};

}  // namespace holdfast::net
