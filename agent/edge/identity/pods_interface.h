// An address of this machine's own by which the pods of the node reach the agent, whatever the
// node's other addresses are: a dummy interface, as YurtHub has it.
//
// Without it the agent serves all others: a kernel that cannot, or a permission that is missing, is
// said once and tried again.
//
// Threading: the loop's thread only. Outlives keep().

#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/edge/identity/options.h"
#include "platform/net/interfaces.h"
#include "platform/net/transport.h"
#include "platform/time.h"

namespace holdfast::agent {

namespace asio = boost::asio;

// Where pods reach the agent over TLS by that interface; nothing: there is to be none.
[[nodiscard]] std::optional<net::HostPort> pods_address(const IdentityOptions& options);

// Whether who listens at `listener` is reached at `at`, too: it is the same, or all addresses.
[[nodiscard]] bool listens_at(const net::HostPort& listener, const net::HostPort& at);

// Errors: invalid, naming the flag.
[[nodiscard]] Status check_pods_interface(const IdentityOptions& options);

class PodsInterface {
 public:
  // Of checked options that want one.
  PodsInterface(const IdentityOptions& options, std::unique_ptr<net::Interfaces> interfaces,
                const Clock& clock);

  // Whether it is as it should be now.
  bool ensure();
  // Looks after it each minute, as YurtHub does; `on_change` is told whenever ensure() begins to
  // succeed. Runs until cancelled.
  asio::awaitable<void> keep(std::function<void()> on_change);
  void remove();

 private:
  net::DummyInterface wanted_;
  std::unique_ptr<net::Interfaces> interfaces_;
  const Clock& clock_;
  bool good_ = false;
  std::string failure_;  // that was logged last
};

}  // namespace holdfast::agent
