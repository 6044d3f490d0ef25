// A dummy network interface, like YurtHub's. Its address lets the pods of the node reach the agent
// whatever the node's other addresses are.
//
// If the interface cannot be made (no kernel support or a missing permission), the error is logged
// once, the agent serves all other callers, and the interface is tried again each minute.
//
// Threading: the loop's thread only. A PodsInterface must outlive keep().

#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>

#include "agent/edge/options/pods_address.h"
#include "platform/net/interfaces.h"
#include "platform/net/transport.h"
#include "platform/time.h"

namespace holdfast::agent {

namespace asio = boost::asio;

class PodsInterface {
 public:
  // `options` passed check_pods_interface() and set an address.
  PodsInterface(const IdentityOptions& options, std::unique_ptr<net::Interfaces> interfaces,
                const Clock& clock);

  // Makes or repairs the interface. Returns whether it is in place now.
  bool ensure();
  // Calls ensure() each minute, as YurtHub does. `on_change` is called whenever ensure() succeeds
  // after a failure. Runs until cancelled.
  asio::awaitable<void> keep(std::function<void()> on_change);
  // Removes the interface. A failure is logged.
  void remove();

 private:
  net::DummyInterface wanted_;
  std::unique_ptr<net::Interfaces> interfaces_;
  const Clock& clock_;
  bool good_ = false;
  std::string failure_;  // the last error that was logged
};

}  // namespace holdfast::agent
